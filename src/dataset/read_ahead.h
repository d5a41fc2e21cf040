/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_ahead.h: the dataset's interface for read-ahead: the stored places of files, and
 * blocks that are read into memory before they are requested.
 *
 * Threads: dataset_stream_sources before there are any; the others by any number at once.
 */
#ifndef GRANARY_DATASET_READ_AHEAD_H
#define GRANARY_DATASET_READ_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset/dataset.h"
#include "volume/volume.h"

/*
 * From now on the packed files are read as a stream: this process keeps the bytes or
 * passes them on, and the kernel keeps no copy.
 */
void dataset_stream_sources(struct dataset *dataset);

/* Bytes that the dataset's own cache may hold. */
void dataset_limit_cache(struct dataset *dataset, uint64_t bytes);
uint64_t dataset_cache_bytes(const struct dataset *dataset);

/*
 * The stored place of these bytes of a file: false if none are stored. Of bytes in
 * several places it is the first place. `as_is`: the bytes are stored in one piece,
 * undecoded.
 */
bool dataset_stored(const struct dataset *dataset, uint32_t node, uint64_t offset,
		    uint64_t length, struct volume_span *out, bool *as_is);

/* Has the cache decoded a file: the ends of its first stored piece? */
bool dataset_is_decoded(const struct dataset *dataset, uint32_t node);

/*
 * Blocks of the packed files, of up to VOLUME_BLOCK_MOST bytes each: sorted, without
 * overlap. From now on these blocks are staged. They outlive all reads.
 */
void dataset_use_blocks(struct dataset *dataset, const struct volume_span *blocks,
			uint32_t count);
bool dataset_find_block(const struct dataset *dataset, uint32_t source, uint64_t offset,
			uint32_t *out);

/*
 * Reads a whole block, unless it is in the cache: 0 and a pin, which dataset_unstage
 * gives back. Without a table of blocks, a block is VOLUME_BLOCK bytes at a multiple of
 * that.
 */
int dataset_stage(const struct dataset *dataset, uint32_t block, struct cache_pin **out);
int dataset_stage_aligned(const struct dataset *dataset, uint32_t source,
			  uint64_t number, struct cache_pin **out);

/*
 * May these bytes of a file be used, or must dataset_read read them? True if the bytes
 * fit their checksums, if no bytes are compared, or if the file has no checksums. False
 * also if the bytes are not whole blocks.
 */
bool dataset_sum_matches(const struct dataset *dataset, uint32_t node, const void *bytes,
			 size_t length, uint64_t offset);

/* `used`: the block will not be read again. Otherwise it stays while there is room. */
void dataset_unstage(const struct dataset *dataset, struct cache_pin *pin, bool used);

#endif
