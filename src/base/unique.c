/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/unique.h"

#include <stdlib.h>
#include <string.h>

size_t unique_sort(void *items, size_t n, size_t size,
		   int (*compare)(const void *left, const void *right))
{
	char *bytes = items;
	size_t kept = 1;

	if (n == 0)
		return 0;
	qsort(items, n, size, compare);
	for (size_t i = 1; i < n; i++) {
		if (compare(bytes + i * size, bytes + (kept - 1) * size) == 0)
			continue;
		if (i != kept)
			memcpy(bytes + kept * size, bytes + i * size, size);
		kept++;
	}
	return kept;
}

size_t unique_compact(void *items, size_t n, size_t size,
		      int (*compare)(const void *left, const void *right),
		      size_t *compact_at)
{
	if (n < *compact_at)
		return n;
	n = unique_sort(items, n, size, compare);
	*compact_at = 2 * n + UNIQUE_COMPACT_AT;
	return n;
}
