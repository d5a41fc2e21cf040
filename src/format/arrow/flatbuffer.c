/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/arrow/flatbuffer.h"

#include "base/bytes.h"
#include "base/checked.h"

enum {
	REFERENCE = 4,    /* bytes: forward, from where it lies itself */
	VTABLE_HEAD = 4,  /* bytes: its size, and that of the table */
	VTABLE_SLOT = 2,
};

static bool number_at(const struct flat_buffer *in, uint64_t at, unsigned n,
		      uint64_t *out)
{
	if (!range_within(at, n, in->size))
		return false;
	*out = little_endian(in->bytes + at, n);
	return true;
}

/* Where the reference at `at` leads: always forward. */
static bool flatbuffer_follow(const struct flat_buffer *in, uint64_t at, uint64_t *out)
{
	uint64_t distance;

	if (!number_at(in, at, REFERENCE, &distance) || distance < REFERENCE)
		return false;
	*out = at + distance;
	return *out < in->size;
}

static bool open_table(const struct flat_buffer *in, uint64_t at, struct flat_table *out)
{
	uint64_t distance, vtable, vtable_size, size;

	if (!number_at(in, at, REFERENCE, &distance))
		return false;
	/* the vtable may lie on either side: wraps to below 0 are out of bounds */
	vtable = at - (uint64_t)(int64_t)(int32_t)(uint32_t)distance;
	if (!number_at(in, vtable, 2, &vtable_size) ||
	    !number_at(in, vtable + 2, 2, &size) || vtable_size < VTABLE_HEAD ||
	    size < REFERENCE || !range_within(vtable, vtable_size, in->size) ||
	    !range_within(at, size, in->size))
		return false;
	*out = (struct flat_table){ *in, (size_t)at, (size_t)vtable,
				    (unsigned)vtable_size, (unsigned)size };
	return true;
}

bool flat_root(const void *bytes, size_t n, struct flat_table *out)
{
	struct flat_buffer in = { bytes, n };
	uint64_t at;

	return flatbuffer_follow(&in, 0, &at) && open_table(&in, at, out);
}

/* Where a field of `n` bytes lies; 0: it is absent. */
static bool find_field(const struct flat_table *table, unsigned field, unsigned n,
		       uint64_t *at)
{
	unsigned slot = VTABLE_HEAD + VTABLE_SLOT * field;
	uint64_t offset;

	*at = 0;
	if (table->at == 0 || slot + VTABLE_SLOT > table->vtable_size)
		return true;
	offset = little_endian(table->in.bytes + table->vtable + slot, VTABLE_SLOT);
	if (offset == 0)
		return true;
	*at = table->at + offset;
	return offset >= REFERENCE && range_within(offset, n, table->size);
}

bool flat_number(const struct flat_table *table, unsigned field, unsigned n,
		 uint64_t *out)
{
	uint64_t at;

	if (!find_field(table, field, n, &at))
		return false;
	return at == 0 || number_at(&table->in, at, n, out);
}

bool flat_table(const struct flat_table *table, unsigned field, struct flat_table *out)
{
	uint64_t at;

	*out = (struct flat_table){ .in = table->in };
	if (!find_field(table, field, REFERENCE, &at))
		return false;
	return at == 0 || (flatbuffer_follow(&table->in, at, &at) &&
			   open_table(&table->in, at, out));
}

bool flat_vector(const struct flat_table *table, unsigned field, unsigned item,
		 struct flat_vector *out)
{
	uint64_t at, count, bytes;

	*out = (struct flat_vector){ .in = table->in, .item = item };
	if (!find_field(table, field, REFERENCE, &at))
		return false;
	if (at == 0)
		return true;
	if (!flatbuffer_follow(&table->in, at, &at) ||
	    !number_at(&table->in, at, 4, &count) || !checked_mul(count, item, &bytes) ||
	    !range_within(at + 4, bytes, table->in.size))
		return false;
	out->at = (size_t)at + 4;
	out->count = (uint32_t)count;
	return true;
}

bool flat_text(const struct flat_table *table, unsigned field, struct flat_text *out)
{
	struct flat_vector vector;

	*out = (struct flat_text){ NULL, 0 };
	if (!flat_vector(table, field, 1, &vector))
		return false;
	if (vector.at) {
		out->bytes = (const char *)vector.in.bytes + vector.at;
		out->size = vector.count;
	}
	return true;
}

const unsigned char *flat_item(const struct flat_vector *vector, uint32_t i)
{
	return vector->in.bytes + vector->at + (size_t)i * vector->item;
}

bool flat_item_table(const struct flat_vector *vector, uint32_t i,
		     struct flat_table *out)
{
	uint64_t at;

	return flatbuffer_follow(&vector->in, vector->at + (uint64_t)i * REFERENCE,
				 &at) &&
	       open_table(&vector->in, at, out);
}
