/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_sums.h: the checksums of the blocks that a file of more than BLOCK_BYTES consists of,
 * and where they are in an index (layout.h, BLOCKS). A file of up to that is one block,
 * and its checksum is that of the block (index_sum).
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

/* Has the index checksums of blocks? One of an older version has none but of files. */
bool blocks_are_there(const struct index *index);

/*
 * The number of the first checksum of a file of more than BLOCK_BYTES, the others follow
 * it; and a checksum by its number: 0 or -EIO.
 */
int blocks_first(const struct index *index, uint32_t node, uint64_t *out);
int blocks_sum(const struct index *index, uint64_t number, uint64_t *out);

/* All of them in the making: what BLOCKS is to hold. */
struct blocks {
	uint64_t *items;
	uint64_t count;
};

/*
 * With room for the checksums of all blocks, which are still 0: 0, -EIO or -ENOMEM. The
 * caller frees it.
 */
int blocks_plan(const struct index *index, struct blocks *out);
void blocks_free(struct blocks *blocks);

/* Where those of a file begin, which has more than BLOCK_BYTES; NULL: it has not. */
uint64_t *blocks_of(const struct index *index, const struct blocks *blocks, uint32_t node);

#endif
