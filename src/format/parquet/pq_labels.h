/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pq_labels.h: which column labels the rows of a Parquet file, and what it says. Private to
 * format/parquet/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_PARQUET_PQ_LABELS_H
#define GRANARY_FORMAT_PARQUET_PQ_LABELS_H

#include "format/parquet/pq_cursor.h"
#include "format/row_names.h"

enum { PQ_WHY_BYTES = 96 };

struct pq_label {
	bool none;     /* null, NaN, an empty text */
	bool in_words; /* the name of a class */
	int64_t number;
	char text[ROW_NAME_BYTES + 1];
};

/* The label of a value: 0, -EDOM where it is no label, and why; or an error that was told. */
int pq_label_read(struct pq_cursor *cursor, const struct pq_value *value, struct pq_label *out,
		  char why[PQ_WHY_BYTES]);

/* May its values be labels, by its type? */
bool pq_column_can_label(const struct pq_column *column);

/*
 * The column of labels: that of labels=NAME, or by the rules; NULL: none. Tells what else
 * could be meant. 0, or an error that was told.
 */
int pq_labels_choose(struct pq_file *file, const struct pq_column **out);

#endif
