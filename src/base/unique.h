/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unique.h: removes duplicates from an array while it grows.
 *
 *	size_t compact_at = UNIQUE_COMPACT_AT;
 *	...
 *	labels.count = unique_compact(labels.items, labels.count, sizeof(int64_t), compare, &compact_at);
 *	vec_push(&labels, label);
 *	...
 *	labels.count = unique_sort(labels.items, labels.count, sizeof(int64_t), compare);
 *
 * Threads: any.
 */
#ifndef GRANARY_BASE_UNIQUE_H
#define GRANARY_BASE_UNIQUE_H

#include <stddef.h>

/* Sorts, and keeps the first of equal items; returns how many remain. */
size_t unique_sort(void *items, size_t n, size_t size,
		   int (*compare)(const void *left, const void *right));

/*
 * The same once there are `*compact_at` items, which then becomes twice the rest and
 * more: memory is bounded by the distinct items, and sorts are rare.
 */
enum { UNIQUE_COMPACT_AT = 1 << 16 };
size_t unique_compact(void *items, size_t n, size_t size,
		      int (*compare)(const void *left, const void *right),
		      size_t *compact_at);

#endif
