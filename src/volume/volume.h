/*
 * volume.h: numbered byte spaces that files' extents point into.
 *
 * Raw volumes are windows over a source, literal ones bytes that the index
 * holds, coded ones chunks of a source that are decoded, each once for as long as
 * the table's cache keeps it. The table is made from an index, whose numbers are not trusted: a
 * volume that makes no sense answers every read with -EIO.
 *
 * Threads: volume_pread by any number of threads; the others by the owner.
 */
#ifndef GRANARY_VOLUME_VOLUME_H
#define GRANARY_VOLUME_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "source/source_set.h"
#include "tree/index.h"

struct volume;

/* One kind of volume. `offset` and `length` have been checked. */
struct volume_ops {
	int (*pread)(const struct volume *volume, void *buffer, size_t length,
		     uint64_t offset);
};

struct volume {
	const struct volume_ops *ops; /* NULL: makes no sense */
	struct volume_desc desc;      /* as far as its kind has been checked */
	const struct source *source;  /* raw, coded */
	const struct index *index;    /* literal, coded */
	struct cache *cache;          /* coded */
};

extern const struct volume_ops volume_raw_ops, volume_literal_ops, volume_coded_ops;

struct volume_table {
	struct volume *volumes;
	uint32_t count;
	struct cache *cache; /* NULL: no volume is coded */
};

/* Sources and index must outlive the table. 0 or -ENOMEM. */
int volume_table_open(const struct index *index, const struct source_set *sources,
		      struct volume_table *out);
void volume_table_close(struct volume_table *table);

/* Does this version know the codecs and the guard that the volume asks for? */
bool volume_is_known(const struct volume_desc *desc);

/* Reads exactly `length` bytes: 0 or a negative errno. */
int volume_pread(const struct volume_table *table, uint32_t volume, void *buffer,
		 size_t length, uint64_t offset);

/*
 * Checks what must lie before an extent, of `length` bytes at `offset`: 0 where
 * the volume has no guard, or a negative errno.
 */
int volume_check(const struct volume_table *table, uint32_t volume, uint64_t offset,
		 uint64_t length);

/*
 * Where a volume's byte lies, for messages: the source's path (or "the index")
 * and the offset in it; of a coded volume, where the chunk that holds it begins.
 */
const char *volume_locate(const struct volume_table *table, uint32_t volume,
			  uint64_t offset, uint64_t *out);

#endif
