/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unique.h: many things, of which most are the same, and each is wanted once.
 *
 *	size_t thin_at = ONCE_THIN_AT;
 *	...
 *	labels.count = once_thin(labels.items, labels.count, sizeof(int64_t), compare, &thin_at);
 *	vec_push(&labels, label);
 *	...
 *	labels.count = once_sort(labels.items, labels.count, sizeof(int64_t), compare);
 *
 * Threads: any.
 */
#ifndef GRANARY_BASE_UNIQUE_H
#define GRANARY_BASE_UNIQUE_H

#include <stddef.h>

/* Sorts, and keeps the first of those that are equal: how many are left. */
size_t once_sort(void *items, size_t n, size_t size,
		 int (*compare)(const void *left, const void *right));

/*
 * The same if there are `*thin_at` or more, which becomes twice what is left and some more:
 * what is pushed takes no more memory than it must, and is sorted a few times only.
 */
enum { ONCE_THIN_AT = 1 << 16 };
size_t once_thin(void *items, size_t n, size_t size,
		 int (*compare)(const void *left, const void *right), size_t *thin_at);

#endif
