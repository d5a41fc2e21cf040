/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * partner.h: the file that holds the labels of another one's rows, as PCam's
 * "..._x.h5" and "..._y.h5".
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_PARTNER_H
#define GRANARY_FORMAT_HDF5_PARTNER_H

#include "format/hdf5/group.h"

/* Adds what may be labels in the group of the same path in the file scan->labels_in. */
int hdf5_partner_list(struct hdf5_group *group);

void hdf5_partner_close(struct hdf5_walk *walk);

#endif
