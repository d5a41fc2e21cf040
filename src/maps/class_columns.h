/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * class_columns.h: which column of a table of classes holds the labels, and which the
 * names.
 *
 * Pure: columns in, a choice out. Threads: any.
 */
#ifndef GRANARY_MAPS_CLASS_COLUMNS_H
#define GRANARY_MAPS_CLASS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/* One column of a table of several rows. */
struct class_column {
	const char *title; /* what its first row holds; no NUL behind it */
	size_t title_size;
	bool title_number; /* and that is a whole number */
	size_t numbers;	   /* how many of the rows behind the first hold whole numbers, */
	size_t wnids;	   /* or something like n01440764 */
};

enum class_columns_found {
	CLASS_COLUMNS_NONE, /* no column holds labels: each row is a name */
	CLASS_COLUMNS_NUMBERED,
	CLASS_COLUMNS_TITLED, /* titles, and names in the order of their labels */
	CLASS_COLUMNS_MANY,   /* several columns could be either */
};

struct class_columns_choice {
	enum class_columns_found found;
	bool titles;	    /* the first row holds them */
	size_t label, name; /* of NUMBERED both; of TITLED the name */
};

/* `rows`: of the table, the first one included. */
struct class_columns_choice class_columns_choose(const struct class_column *columns,
						 size_t n, size_t rows);

/* Is this what a column of labels is called: "ClassId", "index", "label"? */
bool class_title_of_labels(const char *title, size_t size);

/* Is this what a column of names is called, and nothing else: "class_name"? */
bool class_title_of_names(const char *title, size_t size);

#endif
