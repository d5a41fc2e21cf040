/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_sums.h: the checksums of the blocks of a file of more than BLOCK_BYTES, and their
 * location in an index (layout.h, BLOCKS). A smaller file is one block, with the checksum
 * of the file (index_sum).
 *
 * They take 74 kB of the index for each GB of files of 110 kB, 61 kB of large ones. To
 * compare a block takes about 11 us (make bench BENCH=sums).
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_INDEX_BLOCK_SUMS_H
#define GRANARY_INDEX_BLOCK_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "index/index.h"

enum { BLOCK_BYTES = 128 << 10 };

/* Has the index checksums of blocks? An older one has only those of files. */
bool block_sums_exist(const struct index *index);

/*
 * The number of the first checksum of a file of more than BLOCK_BYTES, which the others
 * follow; and a checksum by its number: 0 or -EIO.
 */
int block_sums_first(const struct index *index, uint32_t node, uint64_t *out);
int block_sums_get(const struct index *index, uint64_t number, uint64_t *out);

/* The section BLOCKS while it is built. */
struct block_sums {
	uint64_t *items;
	uint64_t count;
};

/*
 * Allocates the checksums of all blocks, as 0: 0, -EIO or -ENOMEM. The caller frees it.
 */
int block_sums_allocate(const struct index *index, struct block_sums *out);
void block_sums_free(struct block_sums *blocks);

/* The first checksum of a file of more than BLOCK_BYTES; NULL for others. */
uint64_t *block_sums_of_file(const struct index *index, const struct block_sums *blocks,
			     uint32_t node);

#endif
