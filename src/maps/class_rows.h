/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * class_rows.h: lines of a list of classes, each taken apart into a number and a name.
 *
 * Threads: none.
 */
#ifndef GRANARY_MAPS_CLASS_ROWS_H
#define GRANARY_MAPS_CLASS_ROWS_H

#include "maps/maps_lines.h"

struct class_row {
	const char *name; /* all of the line where it has no number */
	size_t size;
	int64_t number;
	bool numbered;
	size_t place; /* of its line */
};

struct class_rows {
	VEC(struct class_row) items;
	bool titles; /* the first line was titles, and is none of them */
	bool blanks; /* nothing but blanks parts numbers and names */
	bool many;   /* several columns could hold the numbers, or the names */
};

/* A way to take lines apart. */
enum class_form {
	CLASS_FORM_COLUMNS,  /* as many fields in each, parted by one of , ; | and tabs */
	CLASS_FORM_LEADING,  /* "0: cat", "0 cat" */
	CLASS_FORM_TRAILING, /* "cat 0" */
	CLASS_FORM_SECOND,   /* "n02119789 1 kit_fox" */
	CLASS_FORMS,
};

/*
 * The rows of all lines, in this form; none where it is not that of a table at all. 0 or
 * -ENOMEM. To be freed in any case.
 */
int class_rows_split(struct map_lines *lines, enum class_form form,
		     struct class_rows *out);

enum class_rows_kind {
	CLASS_ROWS_PLAIN, /* the numbers are none of labels */
	CLASS_ROWS_NUMBERED,
	CLASS_ROWS_PARTLY, /* some have one, and others do not */
	CLASS_ROWS_TWICE,  /* it is not told which of two columns is the labels' */
};

/* Finds the kind of the numbers, for *out. 0 or -ENOMEM. */
int class_rows_classify(struct class_rows *rows, enum class_rows_kind *out);

/* Where something like n01440764 begins a text: its length, 0 if there is none. */
size_t class_wnid_length(const char *text, size_t size);

#endif
