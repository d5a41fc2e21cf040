/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_ahead.h: what reading ahead needs to know of a dataset: where its files are stored,
 * and a way to have that in memory before it is asked for.
 *
 * Threads: dataset_begin_ahead before there are any; the others by any number at once.
 */
#ifndef GRANARY_DATASET_READ_AHEAD_H
#define GRANARY_DATASET_READ_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset/dataset.h"
#include "volume/volume.h"

/*
 * From now on the packed files are read as a stream: what is read is kept here, or
 * passed on, and the kernel keeps no copy of it.
 */
void dataset_begin_ahead(struct dataset *dataset);

/* Bytes that the dataset's own cache may hold. */
void dataset_limit_cache(struct dataset *dataset, uint64_t bytes);
uint64_t dataset_cache_bytes(const struct dataset *dataset);

/*
 * Where these bytes of a file are stored: false where nothing is, and of what is in
 * many places the first that lie together. `as_is`: they need no decoding, and lie there
 * from the first to the last.
 */
bool dataset_stored(const struct dataset *dataset, uint32_t node, uint64_t offset,
		    uint64_t length, struct volume_span *out, bool *as_is);

/* Has the cache decoded the first of a file's bytes that is stored? */
bool dataset_is_decoded(const struct dataset *dataset, uint32_t node);

/*
 * Blocks of the packed files, of up to VOLUME_BLOCK_MOST bytes each: sorted, without
 * overlap. From now on they are what is staged. They outlive all reading.
 */
void dataset_use_blocks(struct dataset *dataset, const struct volume_span *blocks,
			uint32_t count);
bool dataset_find_block(const struct dataset *dataset, uint32_t source, uint64_t offset,
			uint32_t *out);

/*
 * Reads a block whole, unless it is in the cache: 0 and a hold on it, which
 * dataset_unstage gives back. Where there is no table of blocks, a block is
 * VOLUME_BLOCK bytes at a multiple of that.
 */
int dataset_stage(const struct dataset *dataset, uint32_t block, struct cache_pin **out);
int dataset_stage_aligned(const struct dataset *dataset, uint32_t source,
			  uint64_t number, struct cache_pin **out);

/*
 * May these bytes of a file be given out, or is dataset_read to be asked for them? True
 * where they are what they were when it was indexed; where nothing is compared; and of a
 * file without checksums. False also where they are not whole blocks.
 */
bool dataset_vouches(const struct dataset *dataset, uint32_t node, const void *bytes,
		     size_t length, uint64_t offset);

/* `used`: nobody is going to read it again. Otherwise it stays while there is room. */
void dataset_unstage(const struct dataset *dataset, struct cache_pin *pin, bool used);

#endif
