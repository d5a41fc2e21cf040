/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * volume.h: numbered byte spaces that files' extents point into.
 *
 * A raw volume is a window over a source. A literal volume is bytes of the index. A coded
 * volume is chunks of a source, each decoded once for as long as the table's cache keeps
 * it. An array volume is elements in tiles, which are chunks too, in the order of the
 * array's rows. A stream is a compressed file, or a file of another volume, decoded: other
 * volumes lie on it as on a source. The table is made from an index, whose numbers are not
 * trusted: a read of an invalid volume is -EIO.
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

/* Read-ahead reads pieces of sources, of about the first size. */
enum { VOLUME_BLOCK = 1 << 20, VOLUME_BLOCK_MOST = 8 << 20 };

/* One kind of volume. `offset` and `length` have been checked. */
struct volume_ops {
	int (*pread)(const struct volume *volume, void *buffer, size_t length,
		     uint64_t offset, struct read_context *context);
};

struct volume {
	const struct volume_ops *ops; /* NULL: makes no sense */
	struct volume_desc desc;      /* as far as its kind has been checked; on a stream the
					 source is that of the stream */
	const struct source *source;  /* of all but literal */
	const struct volume *stream;  /* its stored bytes are those of this one; or NULL */
	const struct index *index;    /* of all but raw */
	const struct volume_table *table;
};

extern const struct volume_ops volume_raw_ops, volume_literal_ops, volume_coded_ops,
	volume_array_ops, volume_stream_ops;

/* The bytes of what a volume is stored in: its source, or a stream. */
static inline uint64_t volume_stored_size(const struct volume *volume)
{
	return volume->stream ? volume->stream->desc.length : source_size(volume->source);
}

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
 * The library that this build lacks for a volume of an index that another build made, for
 * messages ("zstd; ..."); or NULL.
 */
const char *volume_table_needs(const struct volume_table *table);

/* Does this version know the codecs and the guard that the volume asks for? */
bool volume_is_known(const struct volume_desc *desc);

/* Reads exactly `length` bytes: 0 or a negative errno. */
int volume_pread(const struct volume_table *table, uint32_t volume, void *buffer,
		 size_t length, uint64_t offset, struct read_context *context);

/*
 * Checks the guard before an extent of `length` bytes at `offset`: 0 also without a
 * guard, or a negative errno.
 */
int volume_check(const struct volume_table *table, uint32_t volume, uint64_t offset,
		 uint64_t length, struct read_context *context);

/* Are the first and the last of these bytes of a volume in chunks that the cache has? */
bool volume_is_decoded(const struct volume_table *table, uint32_t volume, uint64_t offset,
		       uint64_t length);

/*
 * The bytes of a source that a read of these bytes of a volume needs. False: they lie in
 * the index, or are invalid.
 */
bool volume_span(const struct volume_table *table, uint32_t volume, uint64_t offset,
		 uint64_t length, struct volume_span *out);

/* Are its bytes those of its source, with nothing to decode or to check? */
bool volume_is_plain(const struct volume_table *table, uint32_t volume);

/*
 * Blocks: pieces of sources that are read as one, ahead, and kept in the cache. Without a
 * table each has VOLUME_BLOCK bytes, at a multiple of that; a table has better
 * boundaries. A table is sorted, its blocks do not overlap, each has at most
 * VOLUME_BLOCK_MOST bytes, and the table outlives all reads.
 */
void volume_use_blocks(struct volume_table *table, const struct volume_span *blocks,
		       uint32_t count);

/*
 * The block of the table that holds this byte of a source. False: none does, and *out is
 * the next block behind it, or the number of blocks.
 */
bool volume_find_block(const struct volume_table *table, uint32_t source, uint64_t offset,
		       uint32_t *out);

/*
 * Pins a block in the cache, read whole if missing: 0 and a pin for cache_put or
 * cache_put_used, or a negative errno. By its number in the table, or, without a table,
 * in the source.
 */
int volume_stage(const struct volume_table *table, uint32_t block, struct cache_pin **out);
int volume_stage_aligned(const struct volume_table *table, uint32_t source,
			 uint64_t number, struct cache_pin **out);

/*
 * The place of a volume's byte, for messages: the source's path (or "the index") and the
 * offset in it; of a coded volume or a stream the begin of the chunk that holds it, and of
 * an array that of its tile.
 */
const char *volume_locate(const struct volume_table *table, uint32_t volume,
			  uint64_t offset, uint64_t *out);

#endif
