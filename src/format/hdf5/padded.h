/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * padded.h: encoded files in rows of one length, with zeros behind their ends.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_PADDED_H
#define GRANARY_FORMAT_HDF5_PADDED_H

#include "format/hdf5/column.h"

struct hdf5_padded {
	struct hdf5_column column;
	uint64_t row_bytes;
	unsigned char *tail; /* what was read of a row's end */
};

/* hdf5_padded_close in any case. */
int hdf5_padded_open(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
		     struct hdf5_padded *out);
void hdf5_padded_close(struct hdf5_padded *padded);

/*
 * How long the file in a row is: up to the last byte that is not zero where that ends a
 * JPEG (EOI) or a PNG (IEND), else, and where chunks hold no whole rows, all of the row; 0
 * where all are zeros.
 */
int hdf5_padded_measure(struct hdf5_padded *padded, uint64_t row, uint64_t *length);

#endif
