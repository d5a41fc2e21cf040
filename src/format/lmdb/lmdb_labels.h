/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lmdb_labels.h: a named database of labels, "labels" beside "images": of equal keys.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_LMDB_LABELS_H
#define GRANARY_FORMAT_LMDB_LABELS_H

#include "format/lmdb/lmdb_cursor.h"
#include "format/lmdb/lmdb_value.h"

struct lmdb_labels {
	const char *name; /* of the database; NULL: there is none */
	struct lmdb_db db;
	bool walked; /* its pages are claimed */
	struct lmdb_cursor cursor;
	struct lmdb_item item; /* the next one */
	int more;
};

/* Begins a walk through keys in their order. 0 or an error with its sentence. */
int lmdb_labels_begin(struct lmdb_labels *labels, struct lmdb_file *file);
void lmdb_labels_end(struct lmdb_labels *labels);

/*
 * Notes the label of the key, which follows those that were asked for: text, a pickled
 * int, or an integer of 1, 2, 4 or 8 bytes. 0 or an error with its sentence.
 */
int lmdb_labels_find(struct lmdb_labels *labels, struct value_window *window,
		     const struct lmdb_item *of, struct lmdb_sample *out);

#endif
