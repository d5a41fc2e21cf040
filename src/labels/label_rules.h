/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label_rules.h: which arrays are samples, and what labels and names them. Pure functions of
 * a catalogue: no file, no library.
 *
 * Threads: any, with a catalogue of their own.
 */
#ifndef GRANARY_LABELS_LABEL_RULES_H
#define GRANARY_LABELS_LABEL_RULES_H

#include "labels/catalogue.h"

#define RULE_NONE SIZE_MAX /* no item */

enum sample_form {
	SAMPLE_ROWS,    /* encoded files of variable length */
	SAMPLE_PADDED,  /* encoded files in rows of one length, padded with zeros */
	SAMPLE_PIXELS,  /* uint8 that become .ppm or .pgm */
	SAMPLE_NUMBERS, /* rows of numbers that become .npy */
};

enum label_form {
	LABEL_NUMBER, /* one item a row: an integer, a whole float, a bool, a text */
	LABEL_ONE_HOT,
};

/* How the rows of an array of uint8 are images. */
struct image_shape {
	uint64_t colours, width, height;
	uint8_t order[4];  /* of the axes, the row's first: the image's is H x W x C */
	bool ordered;      /* other than they are stored */
	bool planes;       /* stored as C x H x W */
	bool ambiguous;    /* could be planes or pixels: taken for pixels */
};

struct binding {
	size_t array;          /* its number in the catalogue */
	enum sample_form form;
	struct image_shape shape; /* of SAMPLE_PIXELS */
	uint64_t rows;
	size_t labels, class_list, files; /* numbers in the catalogue, or RULE_NONE */
	enum label_form label_form;
	size_t split_column;   /* says the split of each row; a number, or RULE_NONE */
	bool has_split_lists;  /* the plan's lists say which rows are in which split */
	bool is_class;         /* the array's name is the class of its rows */
};

struct rule_options {
	const char *labels; /* labels=NAME, or NULL */
	const char *where;  /* for messages: the path of what holds the arrays, "/train" */
	bool tree;          /* labels are no matter: nothing is said of them, or refused */
	bool has_splits;    /* rows of some splits may be without labels */

	/* Is given a sentence of what was chosen, possible or left out, with the option that
	   chooses otherwise. */
	void (*report)(void *context, const char *sentence);
	void *context;
};

struct binding_plan {
	VEC(struct binding) items;
	VEC(size_t) split_lists; /* numbers in the catalogue: see names/label_words.h */
	bool chosen_found;   /* labels=NAME labels something */
	char unfit[500];     /* why labels=NAME labels nothing, where an array has that name */
	char problem[700];   /* after -EBADMSG: why the catalogue is refused */
};

/*
 * Fills in `out` and marks what is used. 0, -ENOMEM, or -EBADMSG where labels and rows do
 * not fit. binding_plan_free in any case.
 */
int label_rules_bind(struct catalogue *catalogue, const struct rule_options *options,
		     struct binding_plan *out);
void binding_plan_free(struct binding_plan *plan);

/* uint8 of these dimensions as images; false: they are none. */
bool label_rules_shape(const struct catalogue_item *item, struct image_shape *out);

/* Can this item hold one label for each of `rows` rows? Fills in *form. */
bool label_rules_fit(const struct catalogue_item *item, uint64_t rows,
		     enum label_form *form);

/* Is it called as labels are, or is it `chosen`, if that is not NULL? */
bool label_rules_may_label(const struct catalogue_item *item, const char *chosen);

/* May its numbers, one for each of `rows`, say their splits? */
bool label_rules_may_split(const struct catalogue_item *item, uint64_t rows);

/* Do two of the plan's lists say rows of one split? `one` and `other` are their numbers. */
bool label_rules_find_folds(const struct catalogue *catalogue, const struct binding_plan *plan,
			    size_t *one, size_t *other);

/* How many labels it holds: N of N x 1, 1 x N and one-hot N x K; 0: none. */
uint64_t label_rules_count(const struct catalogue_item *item);

/* N x 1 x 1, or 1 x N: one item a row. The number of its long dimension; -1: neither. */
int label_rules_axis(const struct catalogue_item *item);

/* May this name hold labels, or names of classes or files, so that a link to it counts? */
bool label_rules_name_counts(const char *name, const char *chosen);

#endif
