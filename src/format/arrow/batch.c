/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/arrow/batch.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/checked.h"

/* How many buffers the arrays with any number of them have, of the first `views`. */
static bool count_variadic(const struct arrow_batch *batch, uint32_t views, uint64_t *sum)
{
	*sum = 0;
	if (views > batch->variadic.count)
		return false;
	for (uint32_t i = 0; i < views; i++)
		if (!checked_add(*sum, little_endian(flat_item(&batch->variadic, i), 8),
				 sum))
			return false;
	return true;
}

bool arrow_batch_buffer(const struct arrow_batch *batch, uint64_t i,
			struct arrow_stretch *out)
{
	const unsigned char *item;

	if (i >= batch->buffers.count)
		return false;
	item = flat_item(&batch->buffers, (uint32_t)i);
	out->at = little_endian(item, 8);
	out->length = little_endian(item + 8, 8);
	if (!range_within(out->at, out->length, batch->body_length))
		return false;
	out->at += batch->body;
	return true;
}

unsigned arrow_value_bytes(const struct arrow_array *array)
{
	if (array->type == ARROW_INT || array->type == ARROW_FLOAT)
		return array->bits / 8;
	if (arrow_is_view(array))
		return ARROW_VIEW_BYTES;
	return arrow_is_large(array) ? 8 : 4;
}

/* Has it nothing of its own but which rows are null? */
static bool is_hollow(const struct arrow_array *array)
{
	return array->type == ARROW_STRUCT || array->type == ARROW_FIXED_LIST;
}

/* Have the buffers the lengths that so many rows need? */
static bool parts_fit(const struct arrow_array *array, const struct arrow_batch *batch,
		      const struct arrow_parts *parts)
{
	uint64_t rows = array->elements ? parts->rows : batch->rows;
	uint64_t values = rows, bits = rows / 8 + (rows % 8 != 0), bytes;

	/* the children of a struct may have more rows than it */
	if (parts->rows < rows)
		return false;
	if (parts->nulls && parts->validity.length < bits)
		return false;
	if (is_hollow(array))
		return true;
	if (array->type == ARROW_BOOL)
		return parts->values.length >= bits;
	if (arrow_has_offsets(array) && !checked_add(rows, 1, &values))
		return false;
	return checked_mul(values, arrow_value_bytes(array), &bytes) &&
	       bytes <= parts->values.length;
}

/* The buffers from number `i` on. */
static bool find_parts(const struct arrow_batch *batch, const struct arrow_array *array,
		       uint64_t i, struct arrow_parts *out)
{
	if (!arrow_batch_buffer(batch, i, &out->validity))
		return false;
	if (is_hollow(array))
		return true;
	if (!arrow_batch_buffer(batch, i + 1, &out->values))
		return false;
	if (!arrow_is_text(array) && !arrow_is_binary(array))
		return true;
	if (!arrow_is_view(array))
		return arrow_batch_buffer(batch, i + 2, &out->data);
	if (array->views >= batch->variadic.count)
		return false;
	out->first_data = i + 2;
	out->data_count = little_endian(flat_item(&batch->variadic, array->views), 8);
	return true;
}

int arrow_batch_parts(struct arrow_file *file, const struct arrow_batch *batch,
		      const struct arrow_array *array, struct arrow_parts *out)
{
	const unsigned char *node = flat_item(&batch->nodes, array->node);
	uint64_t i = array->buffer, variadic;

	*out = (struct arrow_parts){ .rows = little_endian(node, 8),
				     .nulls = little_endian(node + 8, 8) };
	if (batch->version == ARROW_V4)
		i += array->unions;
	if (!count_variadic(batch, array->views, &variadic) ||
	    !checked_add(i, variadic, &i) || i >= batch->buffers.count ||
	    !find_parts(batch, array, i, out) || !parts_fit(array, batch, out))
		return arrow_refuse_batch(file, batch,
					  "has %" PRIu64 " rows, and buffers that are too "
					  "short for them, or lie outside it",
					  batch->rows);
	if (out->nulls == 0)
		out->validity.length = 0;
	return 0;
}
