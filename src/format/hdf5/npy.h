/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * npy.h: the head of a NumPy file (.npy, version 1.0) for elements of an HDF5 type.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_NPY_H
#define GRANARY_FORMAT_HDF5_NPY_H

#include "format/hdf5/object.h"

enum { HDF5_NPY_BYTES = 4096 };

struct hdf5_npy {
	char descr[2048]; /* "'<f4'" */
	char head[HDF5_NPY_BYTES];
	size_t length;    /* of the head */
};

/* Can NumPy hold this type as its bytes are in the file? Fills in descr. */
bool hdf5_npy_describe(hid_t type, struct hdf5_npy *out);

/* Makes the head for an array of this shape; `fortran`: the first dimension is the fastest. */
void hdf5_npy_make(struct hdf5_npy *npy, const hsize_t *dims, int rank, bool fortran);

#endif
