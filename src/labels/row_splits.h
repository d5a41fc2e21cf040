/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_splits.h: the splits that rows say word by word: a column, an item, a member of each.
 *
 * Threads: one list belongs to one thread at a time.
 */
#ifndef GRANARY_LABELS_ROW_SPLITS_H
#define GRANARY_LABELS_ROW_SPLITS_H

#include <stddef.h>

enum { ROW_SPLITS_MOST = 16, ROW_SPLIT_BYTES = 65 };

/* Begin with { 0 }. */
struct row_splits {
	char words[ROW_SPLITS_MOST][ROW_SPLIT_BYTES]; /* each once, as they come */
	size_t count;
};

/*
 * The number of the split that this word says; it is added if it is new. "val" and
 * "validation" are one split. -1: it is too long, or one too many.
 */
int row_splits_number(struct row_splits *splits, const char *word, size_t n);

#endif
