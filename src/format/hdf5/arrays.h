/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrays.h: arrays of numbers: their rows as images or .npy files, or all as .npy.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_ARRAYS_H
#define GRANARY_FORMAT_HDF5_ARRAYS_H

#include "format/hdf5/row_samples.h"

/* Appends the rows, all of one length, as samples. */
int hdf5_add_array_rows(struct hdf5_row_set *set);

/*
 * view=arrays: adds the dataset that the path names as NAME.npy, or as NAME/ROW.npy.
 * *taken: it can be shown so.
 */
int hdf5_add_npy(struct hdf5_walk *walk, struct hdf5_dataset *dataset, time_t mtime,
		 bool *taken);

/*
 * All elements in the order of the axes that `order` says (NULL: as they are stored), as
 * an extent; length 0 where there are none. *written (NULL: no matter): rows from there on
 * were never written, and there is no value for such.
 */
int hdf5_array_extent(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
		      const uint8_t *order, struct entry_extent *out, uint64_t *written);

#endif
