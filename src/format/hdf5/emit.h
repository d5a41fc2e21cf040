/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * emit.h: the path of a walk, the entries it makes, and the objects it has seen.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_EMIT_H
#define GRANARY_FORMAT_HDF5_EMIT_H

#include "format/hdf5/object.h"

enum { HDF5_LEFT_OUT_NAMED = 10 };

/* The path becomes its first `length` bytes, and "/name". */
int hdf5_set_path(struct hdf5_walk *walk, size_t length, const char *name);
int hdf5_extend_path(struct hdf5_walk *walk, const char *suffix);
void hdf5_reset_path(struct hdf5_walk *walk, size_t length);

/* Counts it among what is not shown, and says why. */
void hdf5_leave_out_link(struct hdf5_walk *walk, const char *why);
/* `what` describes the dataset. */
void hdf5_leave_out(struct hdf5_walk *walk, const char *what);

/* Objects that several links lead to: NULL where it comes for the first time. */
const struct hdf5_seen *hdf5_find_seen(struct hdf5_walk *walk, haddr_t address);
int hdf5_add_seen(struct hdf5_walk *walk, haddr_t address, size_t entry);

/* Entries named by the path. `mtime` 0: that of the source. */
int hdf5_add_entry(struct hdf5_walk *walk, struct entry *entry, time_t mtime);
int hdf5_add_file(struct hdf5_walk *walk, struct hdf5_dataset *dataset, time_t mtime);
int hdf5_add_hard_link(struct hdf5_walk *walk, size_t first, time_t mtime);
int hdf5_add_soft_link(struct hdf5_walk *walk, const char *target);

#endif
