/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * facts.h: what a dataset is, as an item of a catalogue.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_FACTS_H
#define GRANARY_FORMAT_HDF5_FACTS_H

#include "format/hdf5/object.h"
#include "labels/catalogue.h"

/*
 * Fills in `out`, which has a name. Items are read where they may be labels (`labels`: all
 * of them) or images (the first rows).
 */
int hdf5_facts_read(struct hdf5_walk *walk, struct hdf5_dataset *dataset, bool labels,
		    struct catalogue_item *out);

/* Is the attribute a text that begins so? */
bool hdf5_attribute_is(const struct hdf5_dataset *dataset, const char *name,
		       const char *text);

#endif
