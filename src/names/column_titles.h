/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * column_titles.h: titles of tables' columns and keys of lists: one table for each of their
 * roles; formats and maps read no other.
 *
 * Titles are compared by their letters and digits: "Class_Id" is "classid".
 *
 * Threads: any.
 */
#ifndef GRANARY_NAMES_COLUMN_TITLES_H
#define GRANARY_NAMES_COLUMN_TITLES_H

#include <stdbool.h>
#include <stddef.h>

enum title_role {
	TITLE_LABEL,        /* the label of each row */
	TITLE_FILE,         /* the name of each row's file */
	TITLE_CLASS_NUMBER, /* of a list of classes: their numbers */
	TITLE_CLASS_NAME,   /* of a list of classes: their names */
	TITLE_SPLIT,        /* the split of each row, or what may be: "usage" */
};

/* How usual the title is for that role, 0 is most; -1: it is none. */
int title_rank(enum title_role role, const char *title, size_t n);

/* Is the title more usual for that role than all before it? Begin with *best = -1. */
bool title_is_better(enum title_role role, const char *title, size_t n, int *best);

/* Are words there splits, whichever they are? "split", "subset"; but not "usage". */
bool title_is_split(const char *title, size_t n);

/* Does it end as titles of numbers of classes do: "sign_id"? */
bool title_ends_as_number(const char *title, size_t n);

/* The key of a list of classes, the most usual first; NULL: there are no more. */
const char *title_of_class_list(size_t i);

#endif
