/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lmdb_plan.h: how the values of one database are shown, decided by its first ones.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_LMDB_PLAN_H
#define GRANARY_FORMAT_LMDB_PLAN_H

#include "base/text.h"
#include "format/lmdb/lmdb_cursor.h"
#include "format/lmdb/lmdb_value.h"

enum lmdb_shows {
	LMDB_SHOWS_FILES,   /* each value as a file that is called as its key */
	LMDB_SHOWS_IMAGES,  /* values are files of images */
	LMDB_SHOWS_SAMPLES, /* values hold an image, and mostly its label */
	LMDB_SHOWS_TEXTS,   /* images "image-N" and their texts "label-N" */
};

struct lmdb_plan {
	const char *name; /* of the database; "" of the main one */
	struct lmdb_db db;
	const char *array; /* of samples; those of several databases may be one */
	enum lmdb_shows shows;
	const struct lmdb_form *form; /* of SHOWS_SAMPLES */
	const char *extension;	      /* of most images */
	bool labelled;
	char label_name[LMDB_NAME_MOST +
			1]; /* the item of dicts that is the label; or "" */
	unsigned values;    /* that were looked at */
};

/* Fills in the plan for `name` and `db`: 0 or an error with its sentence. */
int lmdb_plan_make(struct lmdb_file *file, struct value_window *window,
		   struct lmdb_plan *plan);

/* An entry that says something of the others: "num-samples", "__keys__". */
bool lmdb_key_is_special(const struct lmdb_item *item);

/* The number that follows `begin` in a key of digits: its length; 0: it is another key.
 */
size_t lmdb_key_number(const struct lmdb_item *item, const char *begin, const char **out);

/* Appends the key as a path: a number of INTEGERKEY, hexadecimal digits where it has a
   zero byte, else as it is. 0 or -ENOMEM. */
int lmdb_key_append(const struct lmdb_plan *plan, const struct lmdb_item *item,
		    struct text *out);

/* The error of a value that could not be read. */
int lmdb_value_unreadable(const struct lmdb_file *file, int err);

#endif
