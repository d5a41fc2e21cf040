/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/arrow/slice.h"

#include <errno.h>
#include <inttypes.h>

#include "base/bytes.h"
#include "base/checked.h"

enum {
	DATA_MOST = 256 * 1024 * 1024, /* bytes, of the text of a slice */
	VIEW_INLINE = 12,              /* bytes that a view holds itself, */
	VIEW_BYTES_AT = 4,             /* from here on; else there are */
	VIEW_BUFFER_AT = 8,            /* the number of a buffer, and a place in it */
	VIEW_OFFSET_AT = 12,
};

void arrow_slice_begin(struct arrow_slice *slice, const struct arrow_array *array,
		       bool with_text)
{
	*slice = (struct arrow_slice){ .array = array, .with_text = with_text };
}

void arrow_slice_end(struct arrow_slice *slice)
{
	vec_free(&slice->validity);
	vec_free(&slice->values);
	vec_free(&slice->data);
}

int arrow_slice_find(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice)
{
	if (!slice->array)
		return 0;
	return arrow_batch_parts(file, batch, slice->array, &slice->parts);
}

/* Of a number or an offset. */
static uint64_t value_of(const struct arrow_slice *slice, size_t i)
{
	unsigned bytes = arrow_value_bytes(slice->array);

	return little_endian(slice->values.items + i * bytes, bytes);
}

static int slice_load(struct arrow_file *file, struct arrow_bytes *to, uint64_t at,
		      size_t n)
{
	to->count = 0;
	if (vec_reserve(to, n) < 0)
		return -ENOMEM;
	to->count = n;
	return n ? leap_reader_read(&file->reader, to->items, n, at) : 0;
}

/* The text that n rows with offsets have, which may be none, but not too much. */
static int load_text(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice, size_t n)
{
	uint64_t first = value_of(slice, 0), end = value_of(slice, n);
	int err;

	if (first > end || end > slice->parts.data.length)
		return arrow_refuse_batch(file, batch, "has text outside its buffer");
	if (end - first > DATA_MOST)
		return arrow_refuse(file, "has more than %d bytes of text in %zu rows of a "
					  "column that would name them: record batch "
					  "%" PRIu64 "; choose another column, or write it "
					  "again without this one",
				    DATA_MOST, n, batch->number);
	slice->data_at = slice->parts.data.at + first;
	err = slice_load(file, &slice->data, slice->data_at, (size_t)(end - first));
	return err ? arrow_refuse_read(file, err) : 0;
}

int arrow_slice_load(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice, uint64_t first, size_t n)
{
	const struct arrow_array *array = slice->array;
	bool offsets = array && arrow_has_offsets(array);
	int err = 0;

	if (!array)
		return 0;
	slice->first = first;
	if (slice->parts.validity.length)
		err = slice_load(file, &slice->validity,
				 slice->parts.validity.at + first / 8, (n + 7) / 8);
	if (!err && array->type == ARROW_BOOL) {
		err = slice_load(file, &slice->values, slice->parts.values.at + first / 8,
				 (n + 7) / 8);
	} else if (!err && array->type != ARROW_STRUCT && array->type != ARROW_FIXED_LIST) {
		unsigned bytes = arrow_value_bytes(array);

		slice->values_at = slice->parts.values.at + first * bytes;
		err = slice_load(file, &slice->values, slice->values_at,
				 (n + offsets) * bytes);
	}
	if (err)
		return arrow_refuse_read(file, err);
	if (!slice->with_text || !offsets || arrow_is_list(array))
		return 0;
	return load_text(file, batch, slice, n);
}

bool arrow_slice_is_null(const struct arrow_slice *slice, size_t i)
{
	return slice->array && slice->parts.validity.length &&
	       !(slice->validity.items[i / 8] >> i % 8 & 1);
}

static int refuse_view(struct arrow_file *file, const struct arrow_batch *batch)
{
	return arrow_refuse_batch(file, batch, "has a row whose view leads outside its "
					       "buffers");
}

static int place_of_view(struct arrow_file *file, const struct arrow_batch *batch,
			 const struct arrow_slice *slice, size_t i, uint64_t *at,
			 uint64_t *length)
{
	size_t begin = i * ARROW_VIEW_BYTES;
	const unsigned char *view = slice->values.items + begin;
	uint64_t number = little_endian(view + VIEW_BUFFER_AT, 4);
	uint64_t offset = little_endian(view + VIEW_OFFSET_AT, 4);
	struct arrow_stretch buffer;

	*length = little_endian(view, 4);
	if (*length <= VIEW_INLINE) {
		*at = slice->values_at + begin + VIEW_BYTES_AT;
		return 0;
	}
	if (number >= slice->parts.data_count ||
	    !checked_add(number, slice->parts.first_data, &number) ||
	    !arrow_batch_buffer(batch, number, &buffer) ||
	    !range_within(offset, *length, buffer.length))
		return refuse_view(file, batch);
	*at = buffer.at + offset;
	return 0;
}

int arrow_slice_place_of(struct arrow_file *file, const struct arrow_batch *batch,
			 const struct arrow_slice *slice, size_t i, uint64_t *at,
			 uint64_t *length)
{
	uint64_t from, end;

	if (arrow_is_view(slice->array))
		return place_of_view(file, batch, slice, i, at, length);
	from = value_of(slice, i);
	end = value_of(slice, i + 1);
	if (from > end || end > slice->parts.data.length)
		return arrow_refuse_batch(file, batch,
					  "has a row whose offsets, %" PRIu64 " to %" PRIu64
					  ", decrease or leave its buffer of %" PRIu64
					  " bytes",
					  from, end, slice->parts.data.length);
	*at = slice->parts.data.at + from;
	*length = end - from;
	return 0;
}

int arrow_slice_text(struct arrow_file *file, const struct arrow_batch *batch,
		     struct arrow_slice *slice, size_t i, const char **text,
		     uint64_t *length)
{
	uint64_t at;
	int err = arrow_slice_place_of(file, batch, slice, i, &at, length);

	*text = NULL;
	if (err || *length > ARROW_TEXT_MOST)
		return err;
	if (arrow_is_view(slice->array)) {
		slice->data_at = at;
		err = slice_load(file, &slice->data, at, (size_t)*length);
	} else if (at < slice->data_at ||
		   !range_within(at - slice->data_at, *length, slice->data.count)) {
		return arrow_refuse_batch(file, batch, "has rows whose offsets decrease");
	}
	if (err)
		return arrow_refuse_read(file, err);
	/* where there are no bytes, there is nothing to point to */
	*text = *length ? (const char *)slice->data.items + (at - slice->data_at) : "";
	return 0;
}
