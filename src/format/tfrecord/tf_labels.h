/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tf_labels.h: which feature labels a file's Examples, and what it says. Private to
 * format/tfrecord/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_TFRECORD_TF_LABELS_H
#define GRANARY_FORMAT_TFRECORD_TF_LABELS_H

#include "format/tfrecord/tf_columns.h"

enum { TF_CLASS_BYTES = 255, TF_WHY_BYTES = 96 };

/*
 * The column of labels: that of labels=NAME, or by the rules; NULL: none. Tells what else
 * could be meant. 0, or an error that was told.
 */
int tf_labels_choose(struct tf_file *file, const struct tf_columns *columns,
		     const struct tf_column **out);

struct tf_label {
	bool none;       /* no value, NaN, an empty text, a row of zeros */
	bool in_words;   /* the name of a class */
	int64_t number;
	char text[TF_CLASS_BYTES + 1];
};

/* The label in a feature: 0, -EDOM where it is no label, and why; or an error of the reader. */
int tf_label_read(struct tf_file *file, const struct tf_feature *feature,
		  struct tf_label *out, char why[TF_WHY_BYTES]);

#endif
