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
bool blocks_are_there(const struct index *index);

/*
 * The number of the first checksum of a file of more than BLOCK_BYTES, which the others
 * follow; and a checksum by its number: 0 or -EIO.
 */
int blocks_first(const struct index *index, uint32_t node, uint64_t *out);
int blocks_sum(const struct index *index, uint64_t number, uint64_t *out);

/* The section BLOCKS while it is built. */
struct blocks {
	uint64_t *items;
	uint64_t count;
};

/*
 * Allocates the checksums of all blocks, as 0: 0, -EIO or -ENOMEM. The caller frees it.
 */
int blocks_plan(const struct index *index, struct blocks *out);
void blocks_free(struct blocks *blocks);

/* The first checksum of a file of more than BLOCK_BYTES; NULL for others. */
uint64_t *blocks_of(const struct index *index, const struct blocks *blocks, uint32_t node);

#endif
