/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * volume.h: numbered byte spaces that files' extents point into.
 *
 * Raw volumes are windows over a source, literal ones bytes that the index
 * holds, coded ones chunks of a source that are decoded, each once for as long as
 * the table's cache keeps it. Arrays are elements in tiles, which are chunks too, put
 * into the order of an array's rows. The table is made from an index, whose numbers are not trusted: a
 * volume that makes no sense answers every read with -EIO.
 *
 * Threads: volume_pread by any number of threads; the others by the owner.
 */
#ifndef GRANARY_VOLUME_VOLUME_H
#define GRANARY_VOLUME_VOLUME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "index/index.h"
#include "source/source_set.h"

struct volume;
struct volume_table;

/* What is read ahead comes in pieces of sources, of about the first size. */
enum { VOLUME_BLOCK = 1 << 20, VOLUME_BLOCK_MOST = 8 << 20 };

/* One kind of volume. `offset` and `length` have been checked. */
struct volume_ops {
	int (*pread)(const struct volume *volume, void *buffer, size_t length,
		     uint64_t offset, struct read_context *context);
};

struct volume {
	const struct volume_ops *ops; /* NULL: makes no sense */
	struct volume_desc desc;      /* as far as its kind has been checked */
	const struct source *source;  /* raw, coded, array */
	const struct index *index;    /* literal, coded, array */
	const struct volume_table *table;
};

extern const struct volume_ops volume_raw_ops, volume_literal_ops, volume_coded_ops,
	volume_array_ops;

/* Stored bytes of one source. */
struct volume_span {
	uint32_t source;
	uint64_t start, end;
};

struct volume_table {
	uint64_t magic; /* HANDLE_VOLUMES; 0: closed, or never opened */
	struct volume *volumes;
	uint32_t count;
	struct cache *cache; /* of decoded chunks, and of blocks that are staged */
	const struct source_set *sources;
	bool staging;        /* blocks are, or may be: set before there are threads */
	_Atomic uint32_t block_count; /* 0: no table of blocks yet */
	const struct volume_span *blocks;
};

/* Sources and index must outlive the table. 0 or -ENOMEM. */
int volume_table_open(const struct index *index, const struct source_set *sources,
		      struct volume_table *out);
void volume_table_close(struct volume_table *table);

/*
 * What this build lacks for one of the volumes of an index that another build made, for
 * messages ("zstd; ..."); or NULL.
 */
const char *volume_table_needs(const struct volume_table *table);

/* Does this version know the codecs and the guard that the volume asks for? */
bool volume_is_known(const struct volume_desc *desc);

/* Reads exactly `length` bytes: 0 or a negative errno. */
int volume_pread(const struct volume_table *table, uint32_t volume, void *buffer,
		 size_t length, uint64_t offset, struct read_context *context);

/*
 * Checks what must lie before an extent, of `length` bytes at `offset`: 0 where
 * the volume has no guard, or a negative errno.
 */
int volume_check(const struct volume_table *table, uint32_t volume, uint64_t offset,
		 uint64_t length, struct read_context *context);

/* Is this byte of a volume in a chunk that the cache has decoded? */
bool volume_is_decoded(const struct volume_table *table, uint32_t volume, uint64_t offset);

/*
 * What has to be read for these bytes of a volume: false where they lie in the index,
 * or make no sense.
 */
bool volume_span(const struct volume_table *table, uint32_t volume, uint64_t offset,
		 uint64_t length, struct volume_span *out);

/* Are its bytes those of its source, with nothing to decode or to check? */
bool volume_is_plain(const struct volume_table *table, uint32_t volume);

/*
 * Blocks: pieces of sources that are read as one, before they are asked for, and kept
 * in the cache. Until a table of them is known they have VOLUME_BLOCK bytes each, at
 * multiples of that; a table says better where to cut. It is sorted, its blocks do not
 * overlap, none has more than VOLUME_BLOCK_MOST bytes, and it outlives all reading.
 */
void volume_use_blocks(struct volume_table *table, const struct volume_span *blocks,
		       uint32_t count);

/*
 * The block of the table that holds this byte of a source: false: none does, and *out is
 * the next one behind it, or how many there are.
 */
bool volume_find_block(const struct volume_table *table, uint32_t source, uint64_t offset,
		       uint32_t *out);

/*
 * Has a block in the cache, read whole if it is not there: 0 and a pin for cache_put or
 * cache_put_used, or a negative errno. By its number in the table, or where there is
 * none yet by its number in the source.
 */
int volume_stage(const struct volume_table *table, uint32_t block, struct cache_pin **out);
int volume_stage_aligned(const struct volume_table *table, uint32_t source,
			 uint64_t number, struct cache_pin **out);

/*
 * Where a volume's byte lies, for messages: the source's path (or "the index")
 * and the offset in it; of a coded volume, where the chunk that holds it begins, and
 * of an array where its tile does.
 */
const char *volume_locate(const struct volume_table *table, uint32_t volume,
			  uint64_t offset, uint64_t *out);

#endif
