/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_samples.h: a dataset whose rows of variable length are samples.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_ROW_SAMPLES_H
#define GRANARY_FORMAT_HDF5_ROW_SAMPLES_H

#include "format/hdf5/heap.h"
#include "format/hdf5/object.h"

/* An array that is at hand, and what there is beside it. */
struct hdf5_array {
	struct hdf5_walk *walk;
	struct hdf5_dataset *dataset;
	hid_t group;            /* its parent */
	const char *name;
	const char *class_name; /* of all its rows, or NULL */
};

/* Appends the rows as one group of samples, or as one for each split. */
int hdf5_take_rows(const struct hdf5_array *array);

/* For scan->detail: "images and targets: /train, /val". */
void hdf5_note_array(struct hdf5_walk *walk, const char *split, const char *name,
		     const char *labels);

/*
 * Which part of the dataset what is at hand belongs to: its parent group, without the
 * first slash; if no name in that says so, below what the file's name says. NULL: no
 * memory. The caller frees it.
 */
char *hdf5_copy_split(const struct hdf5_walk *walk);

/* Counts rows that are samples: may a file of this size have so many more? */
int hdf5_charge_rows(struct hdf5_walk *walk, uint64_t rows);

#endif
