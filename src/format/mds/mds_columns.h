/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mds_columns.h: the columns of an MDS shard, as the JSON in it says; those of a LitData chunk
 * are from litdata_index.h. Private to format/mds/.
 *
 * Facts: streaming/base/format/mds/writer.py and encodings.py of mosaicml/streaming.
 *
 * Pure. Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_MDS_MDS_COLUMNS_H
#define GRANARY_FORMAT_MDS_MDS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

enum { MDS_COLUMNS_MOST = 1024, MDS_RANK_MOST = 63 };

enum mds_kind {
	MDS_BYTES,    /* a file as it is: jpeg, png, bytes */
	MDS_IMAGES,   /* several of them, with their sizes before them */
	MDS_PIXELS,   /* pil: sizes, mode, pixels */
	MDS_ARRAY,    /* ndarray: type and shape, where they are not fixed, then elements */
	MDS_TEXT,     /* str */
	MDS_DIGITS,   /* str_int, str_float, str_decimal: a number as text */
	MDS_INTEGER,
	MDS_FLOAT,
	MDS_OBJECT,   /* json, pkl, and what a later version may have */
};

struct mds_column {
	const char *name, *encoding; /* "image", "jpeg" */
	enum mds_kind kind;
	uint64_t size;       /* of each value; 0: each has its own */
	unsigned width;      /* of numbers: their bytes */
	bool is_signed;
	unsigned list_skips; /* MDS_IMAGES: bytes before the number of images */
	const char *extension; /* of a file of such a value, where the encoding says it */

	/* MDS_ARRAY: parts that the encoding fixes */
	unsigned element;    /* its number in a value; 0: the value says it */
	unsigned rank;       /* 0: the value says it */
	const uint64_t *dims;
};

struct mds_columns {
	struct arena arena;
	VEC(struct mds_column) items; /* in the order of the shard */
	unsigned own_sizes;           /* columns whose values have sizes of their own */
	bool unnamed;                 /* they are the items of a tuple, called by their numbers */
};

/*
 * Reads the JSON. 0; -ENOMEM; or -EBADMSG, and *fault, which lives as long as the arena.
 * To be freed in any case.
 */
int mds_columns_read(struct mds_columns *columns, const void *json, size_t n,
		     const char **fault);
void mds_columns_free(struct mds_columns *columns);

/* The column of that name, or NULL. */
const struct mds_column *mds_columns_find(const struct mds_columns *columns, const char *name);

/* "image (jpeg), label (int)", as far as there is room. */
void mds_columns_list(const struct mds_columns *columns, char *text, size_t room);

/* The elements of arrays, by their numbers in a value: NumPy's name, or NULL; its bytes. */
const char *mds_element_type(unsigned number, unsigned *bytes);

#endif
