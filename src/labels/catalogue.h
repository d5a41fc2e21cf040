/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.h: what a format lists of the arrays or columns that lie beside each other.
 * The rules (label_rules.h) decide from nothing else.
 *
 * Threads: one catalogue belongs to one thread at a time.
 */
#ifndef GRANARY_LABELS_CATALOGUE_H
#define GRANARY_LABELS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { CATALOGUE_RANK = 8 }; /* an array of more is ITEM_OTHER */

enum item_type {
	ITEM_OTHER,
	ITEM_INTEGER,
	ITEM_FLOAT,
	ITEM_BOOL,
	ITEM_ENUM,     /* integers that have names */
	ITEM_TEXT,     /* of fixed size or not */
	ITEM_BYTES,    /* rows of bytes, of variable length */
	ITEM_COMPOUND,
};

/* One array. Dimensions are as they are stored, the slowest first. */
struct catalogue_item {
	char *name;
	enum item_type type;
	bool is_signed;      /* integers */
	bool numbered;       /* integers and enumerations that an int64_t holds, and texts */
	uint64_t bytes;      /* of an item */
	int rank;            /* 0: one value, or none */
	uint64_t dims[CATALOGUE_RANK];
	bool reversed;       /* written by MATLAB: its first dimension is the last here */
	bool is_numpy;       /* NumPy can hold the type */

	/* Results of a look at items whose name or shape gives reason to look */
	const char *encoded; /* most of the first rows are images of this extension; NULL */
	bool whole;          /* floats: all of them are whole numbers */
	bool one_hot;        /* two dimensions: each row has one 1, and zeros */

	char what[80];       /* for messages: "32-bit float, 60000 x 784" */
	bool elsewhere;      /* in a file of labels beside this one: no sample */
	uint64_t place;      /* equal for two names of one array */
	size_t same;         /* set by the rules: the first item of this place */
	bool used;           /* set by the rules: a sample, or what says something of one */
};

struct catalogue {
	VEC(struct catalogue_item) items; /* in the order of their names */
};

/* Sets `same` of all items: two names of one array have one place. 0 or -ENOMEM. */
int catalogue_find_same(struct catalogue *catalogue);

#endif
