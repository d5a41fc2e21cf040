/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split_arrays.h: splits that arrays beside the rows say: a column "split" with a word for
 * each row, or lists of rows, "train_idx" and "test_idx".
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_SPLIT_ARRAYS_H
#define GRANARY_FORMAT_HDF5_SPLIT_ARRAYS_H

#include "format/hdf5/group.h"

/* Adds the splits that the binding names to `out`; `labelled`: there are labels. */
int hdf5_split_arrays_read(struct hdf5_group *group, const struct binding *binding,
			   bool labelled, struct hdf5_splits *out);

#endif
