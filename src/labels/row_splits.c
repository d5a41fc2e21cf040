/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "labels/row_splits.h"

#include <string.h>

#include "names/split_words.h"

int row_splits_number(struct row_splits *splits, const char *word, size_t n)
{
	for (size_t i = 0; i < splits->count; i++)
		if (split_is_same(splits->words[i], strlen(splits->words[i]), word, n))
			return (int)i;
	if (n >= ROW_SPLIT_BYTES || splits->count == ROW_SPLITS_MOST)
		return -1;
	memcpy(splits->words[splits->count], word, n);
	splits->words[splits->count][n] = '\0';
	return (int)splits->count++;
}
