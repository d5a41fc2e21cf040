/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tf_rows.h: the records of a TFRecord file, as samples. Private to format/tfrecord/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_TFRECORD_TF_ROWS_H
#define GRANARY_FORMAT_TFRECORD_TF_ROWS_H

#include "format/tfrecord/tf_columns.h"

struct tf_choice {
	const struct tf_column *image;
	const struct tf_column *labels, *names; /* NULL: none */
	const char *split;
};

/* Appends a group of samples: the images of a column, in their order. 0, or an error that was
   told. */
int tf_rows_add(struct tf_file *file, const struct tf_choice *choice);

/* The same of whole records, each with its frame, so that it is a TFRecord file. */
int tf_rows_add_records(struct tf_file *file, const char *split);

#endif
