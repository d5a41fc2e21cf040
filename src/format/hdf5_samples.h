/*
 * hdf5_samples.h: a dataset whose rows are samples.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_SAMPLES_H
#define GRANARY_FORMAT_HDF5_SAMPLES_H

#include "format/hdf5_dataset.h"
#include "format/hdf5_rows.h"

/* The names that an array of labels beside its rows may have. */
enum { HDF5_LABEL_NAMES = 3 };
extern const char *const hdf5_label_names[HDF5_LABEL_NAMES];

/* The number of that name, or -1. */
int hdf5_label_number(const char *name);

/*
 * Appends the rows of `dataset`, which is `name` in `group`, as a group of samples.
 * *labels: the number of the name of the array that labels them, or -1.
 */
int hdf5_take_rows(struct hdf5_walk *walk, struct hdf5_dataset *dataset, hid_t group,
		   const char *name, int *labels);

#endif
