/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * words.h: a column of strings, of fixed size or not: names of files or classes.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_WORDS_H
#define GRANARY_FORMAT_HDF5_WORDS_H

#include "format/hdf5/column.h"

enum { HDF5_WORD_BYTES = 4096 };

struct hdf5_words {
	struct hdf5_column column;
	bool variable;
	H5T_str_t padding;
	bool cut; /* there was more in the last one, behind a zero */
	char text[HDF5_WORD_BYTES + 1];
};

bool hdf5_are_words(const struct hdf5_dataset *dataset);

/* hdf5_words_close in any case. */
int hdf5_words_open(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
		    struct hdf5_words *out);
void hdf5_words_close(struct hdf5_words *words);

/*
 * Without its padding, cut at a zero and at HDF5_WORD_BYTES. Valid until the next is asked
 * for.
 */
int hdf5_words_get(struct hdf5_words *words, uint64_t row, const char **out);

#endif
