/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slice.h: some rows of one array of a record batch, in memory.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_ARROW_SLICE_H
#define GRANARY_FORMAT_ARROW_SLICE_H

#include "format/arrow/batch.h"

enum {
	ARROW_SLICE_ROWS = 16384, /* a multiple of 8 */
	ARROW_TEXT_MOST = 65536,  /* bytes */
};

struct arrow_bytes {
	unsigned char *items;
	size_t count, room;
};

/* Zeroed: of no array; then it does nothing, and no row is null. */
struct arrow_slice {
	const struct arrow_array *array;
	bool with_text;           /* it will be asked for */
	uint64_t first;           /* row of the batch that is row 0 here */
	struct arrow_parts parts; /* of the batch */
	struct arrow_bytes validity;
	struct arrow_bytes values; /* numbers, views, or offsets: one more than rows */
	uint64_t values_at;        /* where they are in the window */
	struct arrow_bytes data;   /* text: of all rows, or of one where they are views */
	uint64_t data_at;          /* where that is in the window */
};

void arrow_slice_begin(struct arrow_slice *slice, const struct arrow_array *array,
		       bool with_text);
void arrow_slice_end(struct arrow_slice *slice);

/* Finds the array in a batch. */
int arrow_slice_find(struct arrow_file *file, const struct arrow_batch *batch,
		      struct arrow_slice *slice);

/* Reads rows [first, first + n) of it; `first` is a multiple of ARROW_SLICE_ROWS. */
int arrow_slice_load(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice, uint64_t first, size_t n);

/* Row i of the slice. */
bool arrow_slice_is_null(const struct arrow_slice *slice, size_t i);

/* Where its bytes are: in the window, and within a buffer of the batch; or an error. */
int arrow_slice_place_of(struct arrow_file *file, const struct arrow_batch *batch,
			 const struct arrow_slice *slice, size_t i, uint64_t *at,
			 uint64_t *length);

/*
 * Its text, of a slice with text: valid until the next one is asked for. NULL, and only
 * its length, where that is beyond ARROW_TEXT_MOST.
 */
int arrow_slice_text(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice, size_t i, const char **text,
		     uint64_t *length);

#endif
