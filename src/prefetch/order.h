/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h: the files of a dataset in the order in which they are stored, and blocks of
 * them that are read as one: whole files, about a MiB, or a MiB of one large file.
 *
 * Private to prefetch/. 4 bytes a file and 32 a block; immutable once it is made, for
 * any number of threads.
 */
#ifndef GRANARY_PREFETCH_ORDER_H
#define GRANARY_PREFETCH_ORDER_H

#include <stdint.h>

#include "dataset/read_ahead.h"

/* A file of more bytes comes in pieces, if it is stored as it is. */
enum { ORDER_LARGE = 4 << 20 };

/* What is in a block. */
struct block_files {
	uint32_t first; /* place in the order */
	uint32_t count; /* 0: a piece of `first`, a large file */
};

struct order {
	uint32_t *nodes;
	uint32_t count;              /* files that have stored bytes */
	struct volume_span *blocks;  /* sorted, without overlap; some are empty */
	struct block_files *files;   /* of each block */
	uint32_t block_count;
};

/* Sorts and cuts: 0 or -ENOMEM. The caller frees it. */
int order_make(const struct dataset *dataset, struct order *out);
void order_free(struct order *order);

/* Of a piece of a large file: where in the file it begins. */
uint64_t order_piece(const struct order *order, uint32_t block);

#endif
