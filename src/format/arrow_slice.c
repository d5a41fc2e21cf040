#include "format/arrow_slice.h"

#include <errno.h>
#include <inttypes.h>

#include "util/bytes.h"

enum { DATA_MOST = 256 * 1024 * 1024 }; /* bytes, of the text of a slice */

void arrow_slice_begin(struct arrow_slice *slice, const struct arrow_array *array,
		       bool with_data)
{
	*slice = (struct arrow_slice){ .array = array, .with_data = with_data };
}

void arrow_slice_end(struct arrow_slice *slice)
{
	vec_free(&slice->validity);
	vec_free(&slice->values);
	vec_free(&slice->data);
}

int arrow_slice_place(struct arrow_file *file, const struct arrow_batch *batch,
		      struct arrow_slice *slice)
{
	if (!slice->array)
		return 0;
	return arrow_batch_parts(file, batch, slice->array, &slice->parts);
}

/* Of a number, or of an offset. */
static unsigned width_of(const struct arrow_slice *slice)
{
	if (slice->array->type == ARROW_INT)
		return slice->array->bits / 8;
	return arrow_is_large(slice->array) ? 8 : 4;
}

static uint64_t offset_of(const struct arrow_slice *slice, size_t i)
{
	unsigned width = width_of(slice);

	return little_endian(slice->values.items + i * width, width);
}

static int load(struct arrow_file *file, struct arrow_bytes *to, uint64_t at, size_t n)
{
	to->count = 0;
	if (vec_reserve(to, n) < 0)
		return -ENOMEM;
	to->count = n;
	return n ? arrow_read(&file->reader, to->items, n, at) : 0;
}

/* The bytes of text that n rows have, which may be none, but not too many. */
static int load_data(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice, size_t n)
{
	uint64_t first = offset_of(slice, 0), end = offset_of(slice, n);
	int err;

	slice->data_first = first;
	if (first > end || end > slice->parts.data.length)
		return arrow_refuse_batch(file, batch, "has text outside its buffer");
	if (end - first > DATA_MOST)
		return arrow_refuse(file, "has more than %d bytes of text in %zu rows of a "
					  "column that would name them: record batch "
					  "%" PRIu64 "; choose another column, or write it "
					  "again without this one",
				    DATA_MOST, n, batch->number);
	err = load(file, &slice->data, slice->parts.data.at + first, (size_t)(end - first));
	return err ? arrow_refuse_read(file, err) : 0;
}

int arrow_slice_load(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice, uint64_t first, size_t n)
{
	const struct arrow_array *array = slice->array;
	int err = 0;

	if (!array)
		return 0;
	if (slice->parts.validity.length)
		err = load(file, &slice->validity, slice->parts.validity.at + first / 8,
			   (n + 7) / 8);
	if (!err && array->type == ARROW_INT)
		err = load(file, &slice->values,
			   slice->parts.values.at + first * width_of(slice),
			   n * width_of(slice));
	else if (!err && array->type != ARROW_STRUCT)
		err = load(file, &slice->values,
			   slice->parts.offsets.at + first * width_of(slice),
			   (n + 1) * width_of(slice));
	if (err)
		return arrow_refuse_read(file, err);
	return slice->with_data && array->type != ARROW_INT ?
		       load_data(file, batch, slice, n) : 0;
}

bool arrow_slice_is_null(const struct arrow_slice *slice, size_t i)
{
	return slice->array && slice->parts.validity.length &&
	       !(slice->validity.items[i / 8] >> i % 8 & 1);
}

bool arrow_slice_integer(const struct arrow_slice *slice, size_t i, int64_t *out)
{
	unsigned bits = slice->array->bits;
	uint64_t value = offset_of(slice, i);

	if (slice->array->is_signed && bits < 64 && value >> (bits - 1))
		value |= UINT64_MAX << bits;
	*out = (int64_t)value;
	return slice->array->is_signed || *out >= 0;
}

int arrow_slice_range(struct arrow_file *file, const struct arrow_batch *batch,
		      const struct arrow_slice *slice, size_t i, uint64_t *at,
		      uint64_t *length)
{
	uint64_t from = offset_of(slice, i), end = offset_of(slice, i + 1);
	uint64_t low = slice->with_data ? slice->data_first : 0;
	uint64_t high = slice->with_data ? low + slice->data.count :
					   slice->parts.data.length;

	if (from < low || from > end || end > high)
		return arrow_refuse_batch(file, batch,
					  "has a row whose offsets, %" PRIu64 " to %" PRIu64
					  ", decrease or leave its buffer of %" PRIu64
					  " bytes",
					  from, end, slice->parts.data.length);
	*at = from;
	*length = end - from;
	return 0;
}

const char *arrow_slice_text(const struct arrow_slice *slice, uint64_t at)
{
	/* where all rows are empty there are no bytes to point to */
	return slice->data.count ?
		       (const char *)slice->data.items + (at - slice->data_first) : "";
}
