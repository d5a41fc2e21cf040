/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * group.h: what a group holds besides files and groups, once it is known whole:
 * which of its datasets are samples, and which say something of others.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_GROUP_H
#define GRANARY_FORMAT_HDF5_GROUP_H

#include "format/hdf5/object.h"

/* A dataset that is no file. */
struct hdf5_table {
	char *name;
	haddr_t address;
	enum hdf5_use use;
};

/* A link whose name says that it may be labels. */
struct hdf5_held {
	char *name;
	haddr_t address; /* of what a soft link leads to, too; HADDR_UNDEF: nothing */
	bool soft, used;
	size_t size;     /* of a soft link's target */
};

struct hdf5_group {
	struct hdf5_walk *walk;
	VEC(struct hdf5_table) tables;
	size_t taken; /* tables that have been looked at */
	VEC(struct hdf5_held) held;
};

int hdf5_group_add_table(struct hdf5_group *group, const char *name,
			 const struct hdf5_dataset *dataset);
int hdf5_group_hold(struct hdf5_group *group, hid_t id, const char *name,
		    const H5L_info_t *link);

/* Samples of those that are left to look at; the rest is left out. */
int hdf5_group_take_tables(struct hdf5_group *group, hid_t id);

void hdf5_group_free(struct hdf5_group *group);

/* Remembers its name for a message, if it could be labels. */
void hdf5_note_candidate(struct hdf5_walk *walk, const struct hdf5_dataset *dataset);

#endif
