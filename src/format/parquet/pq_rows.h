/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pq_rows.h: the rows of a Parquet file, as samples. Private to format/parquet/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_PARQUET_PQ_ROWS_H
#define GRANARY_FORMAT_PARQUET_PQ_ROWS_H

#include "format/parquet/pq_labels.h"

/* The columns that are shown. */
struct pq_choice {
	const struct pq_column *images;
	const struct pq_column *paths;  /* of their names; NULL: none */
	const struct pq_column *labels; /* NULL: none */
	const char *title;              /* of the images: "image" of "image.bytes" */
	const char *split, *extension;
	const char **class_names;       /* of the labels; class_count of them */
	size_t class_count;
};

/* The format of the first rows of a column; of one without bytes, of all rows. */
struct pq_looks {
	const char *extension; /* of most, or SAMPLES_UNKNOWN */
	bool known;            /* and that is the type of images, sounds or arrays */
	uint64_t rows, nulls;  /* that were looked at */
};
int pq_rows_inspect(struct pq_file *file, const struct pq_column *column, struct pq_looks *out);

/* Appends a group of samples: the rows of choice->images, in their order. */
int pq_rows_add(struct pq_file *file, const struct pq_choice *choice);

#endif
