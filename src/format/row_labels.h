/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_labels.h: which column of a table has the labels, and what is said of it.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_ROW_LABELS_H
#define GRANARY_FORMAT_ROW_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "format/format.h"
#include "labels/column_rules.h"

/*
 * Chooses as label_column_choose, and looks at what is taken, but for noted classes:
 * `inspect` marks a column whose values are no labels as unfit, and the next best is taken.
 * 0, or the error of `inspect`.
 */
int row_labels_choose(struct label_column_facts *facts, size_t n,
		      int (*inspect)(void *context, size_t column, bool *unfit), void *context,
		      struct label_column_choice *out);

/* Marks columns of integers that the JSON kept under "huggingface" calls classes. */
void row_labels_note_classes(const char *json, size_t n, struct label_column_facts *facts,
			     size_t count);

/* Says that `other` could be meant, too; taken = NULL: and that none is taken. A column is
   called `word`: "column", "feature". */
void row_labels_report(const struct scan *scan, const char *word, const char *taken,
		       const char *other);

/* Says that a column may hold splits, of "row" or "sample", and that it is not used. */
void row_labels_report_split(const struct scan *scan, const char *item, const char *name);

/* labels=NAME names nothing that is there: `list` are those that are. -EBADMSG. */
int row_labels_refuse_name(const struct scan *scan, struct error *e, const char *word,
			   const char *list);

#endif
