/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * column_rules.h: which columns of a table hold images, and which one their labels.
 *
 * Pure: facts of columns in, a choice out. Threads: any.
 */
#ifndef GRANARY_LABELS_COLUMN_RULES_H
#define GRANARY_LABELS_COLUMN_RULES_H

#include <stdbool.h>
#include <stddef.h>

/* ---- Labels ---- */

struct label_column_facts {
	const char *name;
	bool can_label; /* its type is one of labels */
	bool integers;	/* its type is one of classes' numbers */
	bool classes;	/* the file notes that it holds the numbers of classes */
	bool unfit;	/* it was looked at, and holds what no label is */
};

enum { COLUMN_NONE = -1 };

struct label_column_choice {
	int taken; /* COLUMN_NONE: none */
	int other; /* could be meant, too; or COLUMN_NONE */
};

/*
 * The one column that is noted to hold classes; else the first of the usual names of
 * labels (names/column_titles.h). Where several are noted and none has such a name, none is
 * taken, and `other` is the first.
 */
struct label_column_choice label_column_choose(const struct label_column_facts *columns,
					       size_t n);

/* ---- Images ---- */

struct image_column_facts {
	bool known; /* its first rows begin like images, sounds or arrays */
	bool empty; /* it has rows, and each is null */
};

/*
 * Beside columns of images others are none: annotations, what was not loaded. Says so of
 * each; false: no column has bytes.
 */
bool image_columns_choose(const struct image_column_facts *columns, size_t n,
			  bool *left_out);

#endif
