/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * example.h: the features of a tf.train.Example. Private to format/tfrecord/.
 *
 * An Example is a map from keys to lists of bytes, of floats or of integers, in any order.
 * Bytes are not read: the feature says where the first of them lie. Facts:
 * tensorflow/core/example/example.proto and feature.proto.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_TFRECORD_EXAMPLE_H
#define GRANARY_FORMAT_TFRECORD_EXAMPLE_H

#include "format/tfrecord/tf_file.h"
#include "labels/label_text.h"

enum { TF_KEY_BYTES = 255 };

enum tf_kind { TF_NONE, TF_BYTES, TF_FLOATS, TF_INTEGERS }; /* the numbers of the oneof */

struct tf_feature {
	char key[TF_KEY_BYTES + 1]; /* "": none, longer, or with a NUL */
	enum tf_kind kind;
	uint64_t count;       /* of its values */
	uint64_t at, length;  /* of the first of bytes: where they are in the window */
	bool whole;           /* the first of numbers is a whole one: */
	bool nan;             /* or no number at all */
	int64_t number;
	struct one_hot hot;   /* of numbers, ELEMENTS_MOST at most */
};

/* The contents of a record. */
enum tf_record_kind { TF_EXAMPLE, TF_SEQUENCE_EXAMPLE, TF_OTHER };

/* Called for each feature: 0, -ENOMEM, or an error of the file's reader. */
typedef int tf_feature_visit(void *context, const struct tf_feature *feature);

/*
 * Visits the features of a record, in their order: what it holds, or an error, which was
 * told. Of what is no Example some features may have been visited.
 */
int tf_example_visit(struct tf_file *file, const struct tf_record *record,
		     tf_feature_visit *visit, void *context);

#endif
