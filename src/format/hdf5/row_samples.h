/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_samples.h: a dataset whose rows are samples.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_ROW_SAMPLES_H
#define GRANARY_FORMAT_HDF5_ROW_SAMPLES_H

#include "format/hdf5/group.h"

/*
 * The rows of an array that become samples. Which file a row is, its kind of array says;
 * splits, labels, names and what was never written are the same for all kinds.
 */
struct hdf5_row_set {
	struct hdf5_group *group;
	const struct binding *binding;
	struct hdf5_dataset *dataset;
	const char *name;       /* of the array */
	const char *class_name; /* of all its rows, or NULL */
	uint64_t rows;
	const char *extension;  /* set by the kind, as are these: */
	const char *shown;      /* what detail says of the array; NULL: its name */
	void *context;

	/* Sets head and body of a sample; *written: false where nothing was ever stored. */
	int (*fill)(struct hdf5_row_set *set, uint64_t row, struct sample *sample,
		    bool *written);
};

/* Appends the rows as one group of samples, or as one for each split. */
int hdf5_add_row_set(struct hdf5_row_set *set);

/* Counts rows that are samples: may a file of this size have so many more? */
int hdf5_charge_rows(struct hdf5_walk *walk, uint64_t rows);

#endif
