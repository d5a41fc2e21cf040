/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.h: where in a record batch the buffers of an array are.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_FORMAT_ARROW_BATCH_H
#define GRANARY_FORMAT_ARROW_BATCH_H

#include "format/arrow/ipc.h"

/* The part of a record batch that belongs to an array. */
struct arrow_stretch {
	uint64_t at, length;
};

struct arrow_parts {
	uint64_t rows, nulls;
	struct arrow_stretch validity; /* length 0: no row is null */
	struct arrow_stretch values;   /* of numbers, views, or offsets */
	struct arrow_stretch data;     /* of text and bytes with offsets */
	uint64_t first_data, data_count; /* of views: as many buffers, from this one on */
};

/* Where the buffers of an array are, checked against the body of the batch. */
int arrow_batch_parts(struct arrow_file *file, const struct arrow_batch *batch,
		      const struct arrow_array *array, struct arrow_parts *out);

/* Buffer i of a record batch: false where it is none, or leaves the body. */
bool arrow_batch_buffer(const struct arrow_batch *batch, uint64_t i,
			struct arrow_stretch *out);

/* Bytes that each row of an array takes among its values; of offsets: but for the last. */
unsigned arrow_value_bytes(const struct arrow_array *array);

enum { ARROW_VIEW_BYTES = 16 };

#endif
