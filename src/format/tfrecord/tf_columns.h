/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tf_columns.h: which features of a file's Examples are images, labels and names. Private
 * to format/tfrecord/.
 *
 * The first records say which features there are. A feature counts as a column of a table:
 * rules and words are those of other formats' columns (labels/column_rules.h).
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_TFRECORD_TF_COLUMNS_H
#define GRANARY_FORMAT_TFRECORD_TF_COLUMNS_H

#include "base/arena.h"
#include "base/vec.h"
#include "format/tfrecord/example.h"

enum { TF_RECORDS_LOOKED = 16, TF_COLUMNS_MOST = 4096 };

struct tf_column {
	const char *key;
	enum tf_kind kind;
	bool odd;         /* another kind in another record */
	bool several;     /* some record has several values */
	bool text;        /* all first values are such as names are */
	uint64_t records; /* that have it */
	const char *extensions[TF_RECORDS_LOOKED]; /* of first values that are not empty */
	unsigned sniffed;
	const char *extension; /* of most, or SAMPLES_UNKNOWN */
};

struct tf_columns {
	struct arena arena;
	VEC(struct tf_column) items; /* in the order of their keys */
	enum tf_record_kind kind;    /* TF_EXAMPLE if all of them are */
	uint64_t records;            /* that were looked at */
};

/* Looks at the first records. To be freed in any case: 0, or an error that was told. */
int tf_columns_read(struct tf_file *file, struct tf_columns *out);
void tf_columns_free(struct tf_columns *columns);

/* The column of that key, or NULL. */
const struct tf_column *tf_columns_find(const struct tf_columns *columns, const char *key);

/* The part of the key behind its last slash. */
const char *tf_key_word(const char *key);

/* Are its values encoded images, sounds or arrays? */
bool tf_column_is_image(const struct tf_column *column);

/* The one that names files best, or NULL. */
const struct tf_column *tf_columns_find_names(const struct tf_columns *columns);

/* "bytes", "float", "int64" */
const char *tf_kind_name(enum tf_kind kind);

/* "image (bytes), label (int64)", as far as there is room. */
void tf_columns_list(const struct tf_columns *columns, char *text, size_t room);

#endif
