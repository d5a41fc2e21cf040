/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * column.h: a dataset of one item a row, as its bytes lie in the file.
 *
 * Tables of rows, labels and names are read this way: slices of the source, or chunks
 * that are decoded here. libhdf5 says where they are and reads none of them, so that
 * no image is read with the table of its row. Trailing dimensions of one do not count:
 * N x 1 is N rows.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_COLUMN_H
#define GRANARY_FORMAT_HDF5_COLUMN_H

#include "format/hdf5/object.h"

struct hdf5_column {
	struct hdf5_walk *walk;
	struct hdf5_dataset *dataset; /* the caller's; open as long as the column is */
	uint64_t rows, item;          /* bytes of a row, or of its beginning */
	uint64_t stride;              /* from one row to the next */
	H5D_layout_t layout;
	haddr_t at;                   /* contiguous; HADDR_UNDEF: never written */
	bool any;                     /* chunked: is any of them stored? */
	struct hdf5_chunks chunks;
	uint64_t chunk_rows, chunk_step; /* of a chunk; from one with rows to the next */
	uint64_t first, count;        /* the rows in `slice` */
	bool hole;                    /* they were never written */
	unsigned char *slice, *fill;
};

/* The only dimension that is not 1, of N x 1 x 1 or 1 x N; -1: there are several, or none. */
int hdf5_column_axis(const struct hdf5_dataset *dataset);

/* Is this a column: one item a row? */
bool hdf5_is_column(const struct hdf5_dataset *dataset);

enum hdf5_column_kind {
	HDF5_COLUMN_ITEMS, /* one item a row */
	HDF5_COLUMN_ROWS,  /* rows of all items but for the first dimension */
	HDF5_COLUMN_HEADS, /* the same; of rows that are too large, and where a chunk holds no
			      whole rows, their beginnings: see `item` */
};

/* hdf5_column_close in any case. Refuses what cannot be read. */
int hdf5_column_open(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
		     enum hdf5_column_kind kind, struct hdf5_column *out);
void hdf5_column_close(struct hdf5_column *column);

/* The bytes of a row below `rows`, until the next is asked for. */
int hdf5_column_get(struct hdf5_column *column, uint64_t row, const unsigned char **out);

#endif
