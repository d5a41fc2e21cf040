/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuel.h: the attribute `split` of Fuel's files, which says what rows are in which.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_FUEL_H
#define GRANARY_FORMAT_HDF5_FUEL_H

#include "format/hdf5/object.h"

enum { HDF5_SPLIT_NAME = 64 };

struct hdf5_split {
	char name[HDF5_SPLIT_NAME + 1];
	uint64_t start, stop;   /* rows, if there is no list */
	unsigned char *listed;  /* a bit for each row; NULL: there is no list */
	uint64_t count;         /* rows that it has */
	bool labelled;          /* there are labels for these rows */
};

struct hdf5_splits {
	VEC(struct hdf5_split) items; /* none: nothing says so */
};

/* The attribute of a group, read once; and the lists of rows that it refers to. */
struct hdf5_split_line;
struct hdf5_split_lines {
	hid_t group;
	struct hdf5_split_line *items;
	size_t count; /* 0: there is no such attribute */
	VEC(haddr_t) lists;
};

/* hdf5_split_lines_free in any case. */
int hdf5_split_lines_read(struct hdf5_walk *walk, hid_t group, struct hdf5_split_lines *out);
void hdf5_split_lines_free(struct hdf5_split_lines *lines);

/* Is the dataset at `address` such a list of rows? */
bool hdf5_split_lines_refer_to(const struct hdf5_split_lines *lines, haddr_t address);

/*
 * The lines for the array `source` of `rows` rows, and for its labels (NULL: none).
 * hdf5_splits_free in any case.
 */
int hdf5_splits_read(struct hdf5_walk *walk, struct hdf5_split_lines *lines,
		     const char *source, const char *labels, uint64_t rows,
		     struct hdf5_splits *out);

/*
 * Marks the rows that a column of integers lists, counted from `base`, as those of a split
 * that has none. *wrong: which of them is no row, or UINT64_MAX.
 */
int hdf5_split_mark(struct hdf5_walk *walk, struct hdf5_dataset *list, uint64_t base,
		    uint64_t rows, struct hdf5_split *split, uint64_t *wrong);

/* Adds findings of rows of the array at hand that are in no split, or in several. */
void hdf5_splits_report_unlisted(struct hdf5_walk *walk, const struct hdf5_splits *splits,
				 uint64_t rows, const char *by);

/* Refuses splits with labels that have rows beyond the `labels` that there are. */
int hdf5_splits_check(struct hdf5_walk *walk, const struct hdf5_splits *splits,
		      uint64_t labels, uint64_t rows);

void hdf5_splits_free(struct hdf5_splits *splits);

bool hdf5_split_has(const struct hdf5_split *split, uint64_t row);

#endif
