/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gather.h: copies elements of a tile to their places in an array. Private to volume/. */
#ifndef GRANARY_VOLUME_GATHER_H
#define GRANARY_VOLUME_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/volume_desc.h"

/* So many, so many bytes apart. */
struct gather_axis {
	uint64_t count;
	uint64_t from, to;
};

/* Elements of `item` bytes; the axes in the order of the array, the last the fastest. */
struct gather {
	struct gather_axis axes[VOLUME_RANK];
	unsigned rank;
	size_t item;
};

/*
 * The same copy with as few axes as possible, and larger elements: rows that are whole on
 * both sides become one. A copy of one run has rank 0.
 */
void gather_simplify(struct gather *gather);

/* Bytes of all elements. */
uint64_t gather_bytes(const struct gather *gather);

/* Copies by a simplified plan. The two do not overlap. */
void gather_copy(const struct gather *gather, const void *from, void *to);

#endif
