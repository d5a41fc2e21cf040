/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label_column.h: the labels of rows: integers, whole floats, bools, text, one-hot lists,
 * and what a dictionary holds of these.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_ARROW_LABEL_COLUMN_H
#define GRANARY_FORMAT_ARROW_LABEL_COLUMN_H

#include "format/arrow/slice.h"

enum { ARROW_WHY_BYTES = 160 };

struct arrow_label {
	bool none;	  /* null, not a number, an empty text, a row of zeros */
	const char *text; /* the name of a class; NULL: see number. Until the next row */
	size_t length;
	int64_t number;
};

/* Values of a dictionary. */
struct arrow_dictionary {
	struct arrow_array values;
	struct arena arena;
	VEC(struct arrow_label) items;
};

struct arrow_labels {
	const struct arrow_column *column; /* NULL: there are none, and no row has one */
	struct arrow_slice slice;
	struct arrow_parts elements;   /* of lists, in the batch */
	uint64_t length;	       /* of all lists so far; 0: not known */
	struct arrow_bytes row, nulls; /* the elements of one list */
	struct arrow_dictionary dictionary;
	char why[ARROW_WHY_BYTES]; /* of -EDOM: "has a label ..." */
};

void arrow_labels_begin(struct arrow_labels *labels, struct arrow_file *file,
			const struct arrow_column *column);
void arrow_labels_end(struct arrow_labels *labels, struct arrow_file *file);

/* Begins a way through the file's batches, which has been rewound. */
int arrow_labels_restart(struct arrow_labels *labels, struct arrow_file *file);

/* As of a slice. */
int arrow_labels_find(struct arrow_labels *labels, struct arrow_file *file,
		      const struct arrow_batch *batch);
int arrow_labels_load(struct arrow_labels *labels, struct arrow_file *file,
		      const struct arrow_batch *batch, uint64_t first, size_t n);

/* Of row i of the slice: 0; -EDOM where it is no label, and why; or an error. */
int arrow_labels_get(struct arrow_labels *labels, struct arrow_file *file,
		     const struct arrow_batch *batch, size_t i, struct arrow_label *out);

/* Are all rows of the column labels? 1; 0, and why they are not; or an error. */
int arrow_labels_fit(struct arrow_file *file, const struct arrow_column *column,
		     char why[ARROW_WHY_BYTES]);

/* A file of the numbers of another one's rows: into scan->selection. */
int arrow_selection_read(struct arrow_file *file);

#endif
