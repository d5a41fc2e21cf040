/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_blocks.h: samples in 40 bytes, their names and what several of them share. Private
 * to build/.
 *
 * Blocks of memory come from mmap and return to the system, so samples freed from front to
 * back make room for the entries that they become.
 *
 * Threads: as samples.
 */
#ifndef GRANARY_BUILD_SAMPLE_BLOCKS_H
#define GRANARY_BUILD_SAMPLE_BLOCKS_H

#include <stddef.h>

#include "base/vec.h"
#include "build/samples.h"

struct sample_block;

struct sample_blocks {
	VEC(struct sample_block *) items; /* NULL: freed */
	size_t count;  /* samples */
	size_t recent; /* the block used last */
};

/* 0 or -ENOMEM. */
int sample_blocks_add(struct sample_blocks *blocks, const struct sample *sample);

/* Sample i, whose texts live as long as the blocks have it. */
void sample_blocks_get(struct sample_blocks *blocks, size_t i, struct sample *out);

/* Frees samples before i. */
void sample_blocks_release(struct sample_blocks *blocks, size_t i);
void sample_blocks_free(struct sample_blocks *blocks);

#endif
