/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label_names.h: what arrays of labels are called, next to the arrays that they
 * label.
 *
 * Threads: any.
 */
#ifndef GRANARY_FORMAT_HDF5_LABEL_NAMES_H
#define GRANARY_FORMAT_HDF5_LABEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { HDF5_LABEL_NAME_BYTES = 256 };

/* May a dataset of this name be the labels of others? `chosen` is labels=NAME, or NULL. */
bool hdf5_is_label_name(const char *name, const char *chosen);

/* May it be labels although no name is known that goes with the array? "fine_labels". */
bool hdf5_label_may_stand_alone(const char *name);

/* Of another length, may it be something else than labels? "classes". */
bool hdf5_label_is_vague(const char *name);

/* False: their names say that the array and the labels are of different splits. */
bool hdf5_label_may_go_with(const char *labels, const char *array);

/*
 * The i-th name to look for beside the array `name`, the likeliest first; each comes once.
 * With labels=NAME that is NAME, and train_NAME for an array train_...; but never that of
 * another split (train_NAME for test_...). false: there are no more.
 */
bool hdf5_label_name(const char *name, const char *chosen, size_t i,
		     char out[HDF5_LABEL_NAME_BYTES]);

#endif
