/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lmdb_rows.h: the entries of one database, as files and samples.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_LMDB_ROWS_H
#define GRANARY_FORMAT_LMDB_ROWS_H

#include "format/lmdb/lmdb_labels.h"
#include "format/lmdb/lmdb_pixels.h"
#include "format/lmdb/lmdb_plan.h"

struct lmdb_named {
	char *name; /* owned */
	struct lmdb_db db;
};

struct lmdb_rows {
	struct lmdb_file *file;
	const struct lmdb_plan *plan;
	struct value_window window;
	struct lmdb_pixels pixels;
	const char *prefix; /* of paths, "name/"; or "" */
	struct text path;
	unsigned digits; /* that numbers in keys are filled up to */
	uint64_t path_bytes;
	uint64_t shown, odd, crowded;
	char odd_example[64];		  /* a key */
	VEC(struct lmdb_named) databases; /* that the main one has */
	struct lmdb_labels labels;	  /* of databases of images */
};

void lmdb_rows_open(struct lmdb_rows *rows, struct lmdb_file *file);
void lmdb_rows_close(struct lmdb_rows *rows);

/*
 * Adds all entries of the plan's database; samples go into the split `split`, or with
 * `class_name` (or NULL) into that class. 0 or an error with its sentence.
 */
int lmdb_rows_add(struct lmdb_rows *rows, const struct lmdb_plan *plan,
		  const char *prefix, const char *split, const char *class_name);

#endif
