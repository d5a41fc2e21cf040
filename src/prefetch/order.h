/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h: the files of a dataset in stored order, and blocks of them that are read as
 * one: whole files of about a MiB together, or a MiB of one large file.
 *
 * Private to prefetch/. 4 bytes a file and 32 a block; immutable, for any number of
 * threads.
 */
#ifndef GRANARY_PREFETCH_ORDER_H
#define GRANARY_PREFETCH_ORDER_H

#include <stdint.h>

#include "dataset/read_ahead.h"

/* Larger files are split into pieces, if stored uncompressed. */
enum { ORDER_LARGE = 4 << 20 };

/* The files of a block. */
struct block_files {
	uint32_t first; /* index in `nodes` */
	uint32_t count; /* 0: a piece of `first`, a large file */
};

struct order {
	uint32_t *nodes;
	uint32_t count;              /* files with stored bytes, */
	uint64_t pages;              /* and their bytes, in whole pages */
	struct volume_span *blocks;  /* sorted, without overlap; some are empty */
	struct block_files *files;   /* of each block */
	uint32_t block_count;
};

/* Sorts the files and cuts blocks: 0 or -ENOMEM. The caller frees it. */
int order_make(const struct dataset *dataset, struct order *out);
void order_free(struct order *order);

/* The offset in its file of a piece of a large file. */
uint64_t order_piece(const struct order *order, uint32_t block);

#endif
