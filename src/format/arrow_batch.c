#include "format/arrow_batch.h"

#include <inttypes.h>

#include "util/bytes.h"
#include "util/checked.h"

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

static bool get_buffer(const struct arrow_batch *batch, uint64_t i,
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

/* Have the buffers the lengths that so many rows need? */
static bool parts_fit(const struct arrow_array *array, const struct arrow_batch *batch,
		      const struct arrow_parts *parts)
{
	uint64_t rows = batch->rows, bytes;

	/* the children of a struct may have more rows than it */
	if (parts->rows < rows)
		return false;
	if (parts->nulls && parts->validity.length < rows / 8 + (rows % 8 != 0))
		return false;
	if (array->type == ARROW_INT)
		return checked_mul(rows, array->bits / 8, &bytes) &&
		       bytes <= parts->values.length;
	if (array->type == ARROW_STRUCT)
		return true;
	return rows < UINT64_MAX &&
	       checked_mul(rows + 1, arrow_is_large(array) ? 8 : 4, &bytes) &&
	       bytes <= parts->offsets.length;
}

int arrow_batch_parts(struct arrow_file *file, const struct arrow_batch *batch,
		      const struct arrow_array *array, struct arrow_parts *out)
{
	const unsigned char *node = flat_item(&batch->nodes, array->node);
	uint64_t i = array->buffer, variadic;
	bool good = count_variadic(batch, array->views, &variadic) &&
		    checked_add(i, variadic, &i);

	*out = (struct arrow_parts){ .rows = little_endian(node, 8),
				     .nulls = little_endian(node + 8, 8) };
	if (batch->version == ARROW_V4)
		i += array->unions;
	good = good && get_buffer(batch, i, &out->validity);
	if (array->type == ARROW_INT)
		good = good && get_buffer(batch, i + 1, &out->values);
	else if (array->type != ARROW_STRUCT)
		good = good && get_buffer(batch, i + 1, &out->offsets) &&
		       get_buffer(batch, i + 2, &out->data);
	if (!good || !parts_fit(array, batch, out))
		return arrow_refuse_batch(file, batch,
					  "has %" PRIu64 " rows, and buffers that are too "
					  "short for them, or lie outside it",
					  batch->rows);
	if (out->nulls == 0)
		out->validity.length = 0;
	return 0;
}
