/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filters.h: the filters of a dataset's chunks, as steps of a codec chain.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_FILTERS_H
#define GRANARY_FORMAT_HDF5_FILTERS_H

#include "format/hdf5/object.h"

/* Fills in chunks->filters and chunks->codecs; refuses filters that are not ours. */
int hdf5_read_filters(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
		      struct hdf5_chunks *chunks);

#endif
