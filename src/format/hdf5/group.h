/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * group.h: the catalogue of a group's datasets that are no files, and the samples that the
 * rules (labels/label_rules.h) make of it.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_GROUP_H
#define GRANARY_FORMAT_HDF5_GROUP_H

#include "format/hdf5/fuel.h"
#include "format/hdf5/object.h"
#include "labels/label_rules.h"

/* The state of a dataset beside its item of the catalogue. */
struct hdf5_table {
	struct hdf5_walk *walk; /* through the file that it is in */
	haddr_t address;
	enum hdf5_use use;
	time_t mtime;
	bool soft;         /* a soft link leads to it */
	size_t size;       /* of that link's target */
	bool pickled;      /* rows are pickled objects of Python, as PyTables writes them */
};

struct hdf5_group {
	struct hdf5_walk *walk;
	hid_t id;
	struct hdf5_group *above; /* of its parent, and its name there; NULL: the root */
	const char *name;
	struct catalogue catalogue;
	VEC(struct hdf5_table) tables; /* one for each item of the catalogue */
	struct hdf5_split_lines lines; /* of the attribute "split" */
	struct binding_plan plan;
};

/* Adds an open dataset to the catalogue. `soft`: the bytes of a soft link's target, or 0. */
int hdf5_group_add(struct hdf5_group *group, const char *name, struct hdf5_dataset *dataset,
		   time_t mtime, size_t soft);

/* The same, of a dataset in the file of another walk, that may be labels of this group's. */
int hdf5_group_add_partner(struct hdf5_group *group, struct hdf5_walk *walk,
			   const char *name, struct hdf5_dataset *dataset);

/*
 * Lists of rows (names/label_words.h) of a group without samples go to its parent's
 * catalogue, under the path from there: "splits/train", "splits/fold_0/train".
 */
int hdf5_group_raise_lists(struct hdf5_group *group);

/* Decides what are samples, and appends them. What is not used stays unmarked. */
int hdf5_group_add_samples(struct hdf5_group *group);

void hdf5_group_free(struct hdf5_group *group);

/* Opens the dataset of an item; then hdf5_dataset_close. */
int hdf5_group_open(struct hdf5_group *group, size_t item, struct hdf5_dataset *out);

/* Remembers its name for a message, if it could be labels. */
void hdf5_note_candidate(struct hdf5_walk *walk, const struct hdf5_dataset *dataset);

#endif
