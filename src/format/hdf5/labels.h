/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * labels.h: what labels the rows of an array: another array beside it.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_LABELS_H
#define GRANARY_FORMAT_HDF5_LABELS_H

#include "format/hdf5/words.h"

struct hdf5_labels {
	bool found;
	char *name;                  /* "targets" */
	struct hdf5_dataset dataset; /* open if found */
	struct hdf5_words words;     /* its column, which holds words or numbers */
	bool partial;                /* the last rows may have none */
	bool are_words;
	bool big_endian, is_signed;
	unsigned shift, bits;
	char **class_names;          /* of the labels 0, 1, ... */
	size_t class_count;

	/* The first neighbour that is called as labels are, and are none of these rows */
	struct {
		char *name;       /* NULL: there is none such */
		haddr_t address;
		uint64_t count;   /* it has so many labels; 0: it holds no labels */
		char what[80];
	} misfit;
};

/*
 * The labels of the array `name` of `rows` rows, among its neighbours in `group`; they are
 * as many, or fewer if `partial`: see words.column.rows.
 * hdf5_labels_close in any case. What is found is noted with hdf5_use.
 */
int hdf5_labels_find(struct hdf5_walk *walk, hid_t group, const char *name, uint64_t rows,
		     bool partial, struct hdf5_labels *out);
void hdf5_labels_close(struct hdf5_labels *labels);

/*
 * The rows of `array` are shown without labels: warns of a neighbour that was meant to be
 * them, or notes it in walk->misfits, for hdf5_labels_settle. 0 or -ENOMEM.
 */
int hdf5_labels_missing(struct hdf5_walk *walk, const struct hdf5_labels *labels,
			const char *array, uint64_t rows);

/*
 * Once all arrays of a group are taken: labels whose number fits none of them are an
 * error. Empties walk->misfits.
 */
int hdf5_labels_settle(struct hdf5_walk *walk);

/* Sets the label of a sample, or its class name (valid until the next is asked for). */
int hdf5_labels_get(struct hdf5_labels *labels, uint64_t row, struct sample *sample);

/*
 * Opens the dataset `name` in `group`, through links but not into another file, with its
 * address: *found says whether there is one; then hdf5_dataset_close.
 */
int hdf5_open_beside(struct hdf5_walk *walk, hid_t group, const char *name,
		     struct hdf5_dataset *out, bool *found);

#endif
