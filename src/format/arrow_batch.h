/*
 * arrow_batch.h: where in a record batch the buffers of an array are.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_FORMAT_ARROW_BATCH_H
#define GRANARY_FORMAT_ARROW_BATCH_H

#include "format/arrow_file.h"

/* What a record batch has for an array. */
struct arrow_stretch {
	uint64_t at, length;
};

struct arrow_parts {
	uint64_t rows, nulls;
	struct arrow_stretch validity; /* length 0: no row is null */
	struct arrow_stretch values;   /* of numbers */
	struct arrow_stretch offsets, data; /* of text and bytes */
};

/* Where the buffers of an array are, checked against the body of the batch. */
int arrow_batch_parts(struct arrow_file *file, const struct arrow_batch *batch,
		      const struct arrow_array *array, struct arrow_parts *out);

#endif
