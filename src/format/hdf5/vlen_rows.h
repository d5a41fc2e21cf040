/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vlen_rows.h: a dataset whose rows of variable length are samples.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_VLEN_ROWS_H
#define GRANARY_FORMAT_HDF5_VLEN_ROWS_H

#include "format/hdf5/row_samples.h"

/* Appends the rows as samples. */
int hdf5_add_vlen_rows(struct hdf5_row_set *set);

#endif
