/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch_rows.h: rows of bytes of an Arrow file, as samples.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_ARROW_BATCH_ROWS_H
#define GRANARY_FORMAT_ARROW_BATCH_ROWS_H

#include "format/arrow/ipc.h"

/* The columns of a file that are shown. */
struct arrow_choice {
	const struct arrow_column *images;
	const struct arrow_column *labels; /* NULL: none */
	const char *split;
	const struct arrow_column *splits; /* the split of each row, in words; NULL: none */
	const char **class_names;          /* of the labels; class_count of them */
	size_t class_count;
	uint64_t row_budget;               /* rows that the file may still have */
};

/* The format of the first rows of a column; of one without bytes, of all rows. */
struct arrow_rows_type {
	const char *extension; /* of most, or SAMPLES_UNKNOWN */
	bool known;            /* and that is the type of images, sounds or arrays */
	uint64_t rows, nulls;  /* that were looked at */
};
int arrow_rows_inspect(struct arrow_file *file, struct arrow_choice *choice,
		       struct arrow_rows_type *out);

/* Appends a group of samples: the rows of choice->images, in their order. */
int arrow_rows_add(struct arrow_file *file, struct arrow_choice *choice,
		   const char *extension);

#endif
