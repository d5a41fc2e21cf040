/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * labels.h: the labels that the rules have chosen for an array, row by row.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_LABELS_H
#define GRANARY_FORMAT_HDF5_LABELS_H

#include "format/hdf5/group.h"
#include "format/hdf5/numbers.h"
#include "format/hdf5/words.h"

struct hdf5_labels {
	struct hdf5_walk *walk;
	bool found;
	const char *name;            /* "targets"; the catalogue's */
	struct hdf5_dataset dataset; /* open if found */
	struct hdf5_words words;     /* its column, which holds words or numbers */
	struct hdf5_number number;   /* how its items are numbers */
	bool are_words, one_hot;
	uint64_t count;              /* how many there are */
	char **class_names;          /* of the labels 0, 1, ... */
	bool in_list;                /* they are a list beside the labels */
	size_t class_count;
};

/* Opens what `binding` names, with the names of its classes. hdf5_labels_close in any case. */
int hdf5_labels_open(struct hdf5_group *group, const struct binding *binding,
		     struct hdf5_labels *out);
void hdf5_labels_close(struct hdf5_labels *labels);

/* Sets the label of a sample, or its class name (valid until the next is asked for). */
int hdf5_labels_get(struct hdf5_labels *labels, uint64_t row, struct sample *sample);

#endif
