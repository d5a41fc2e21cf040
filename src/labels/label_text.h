/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label_text.h: what a text, or a list of numbers, in the place of a label says. The same
 * in all formats; docs/formats/maps.md, "Labels in all formats", has it for people.
 *
 * Pure. Threads: any.
 */
#ifndef GRANARY_LABELS_LABEL_TEXT_H
#define GRANARY_LABELS_LABEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum label_text {
	LABEL_TEXT_NAME,     /* of a class */
	LABEL_TEXT_NUMBER,   /* a whole number: "3", "3.0", "3e0" */
	LABEL_TEXT_FRACTION, /* "0.5", "0,5", "inf": what a regression is trained on */
	LABEL_TEXT_NONE,     /* "", "nan": there is no label */
	LABEL_TEXT_HOT,      /* "0 0 1", "[0, 0, 1]": the place of the 1 is the number */
	LABEL_TEXT_LIST,     /* numbers that are not one-hot: "[0, 1, 1]" */
};

/* Fills in *number of LABEL_TEXT_NUMBER and LABEL_TEXT_HOT. */
enum label_text label_text_read(const char *text, size_t n, int64_t *number);

/* Does a label of this kind say a number? */
static inline bool label_text_is_number(enum label_text kind)
{
	return kind == LABEL_TEXT_NUMBER || kind == LABEL_TEXT_HOT;
}

/* A row of zeros and one 1; begin with { 0 }. */
struct one_hot {
	uint64_t count; /* of its items */
	int64_t label;  /* the place of the 1, once there is one */
	bool found, odd;
};

/* The next item; `known`: it is a whole number. */
static inline void one_hot_add(struct one_hot *row, bool known, int64_t value)
{
	row->odd |= !known || value < 0 || value > 1 || (value == 1 && row->found);
	if (known && value == 1) {
		row->label = (int64_t)row->count;
		row->found = true;
	}
	row->count++;
}

/* It has one 1. A row of zeros has none, and no label. */
static inline bool one_hot_is(const struct one_hot *row)
{
	return row->found && !row->odd && row->count > 1;
}

#endif
