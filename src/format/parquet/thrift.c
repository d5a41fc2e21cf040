/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/parquet/thrift.h"

#include <errno.h>

enum { VARINT_BYTES = 10, DOUBLE_BYTES = 8, LONG_LIST = 15 };

static int read_varint(struct thrift *thrift, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < VARINT_BYTES && thrift->at < thrift->end; i++) {
		unsigned char byte = *thrift->at++;

		*out |= (uint64_t)(byte & 127) << (7 * i);
		if (byte < 128)
			return i == VARINT_BYTES - 1 && byte > 1 ? -EBADMSG : 0;
	}
	return -EBADMSG;
}

static int read_zigzag(struct thrift *thrift, int64_t *out)
{
	uint64_t value;
	int err = read_varint(thrift, &value);

	*out = (int64_t)(value >> 1 ^ -(value & 1));
	return err;
}

static int read_binary(struct thrift *thrift, struct thrift_field *out)
{
	uint64_t length;

	if (read_varint(thrift, &length) < 0 || length > (size_t)(thrift->end - thrift->at))
		return -EBADMSG;
	out->bytes = (const char *)thrift->at;
	out->length = (size_t)length;
	thrift->at += length;
	return 0;
}

static int read_list_head(struct thrift *thrift, struct thrift_field *out)
{
	uint64_t count;

	if (thrift->at == thrift->end)
		return -EBADMSG;
	out->item = (enum thrift_type)(*thrift->at & 15);
	count = *thrift->at++ >> 4;
	if (count == LONG_LIST && read_varint(thrift, &count) < 0)
		return -EBADMSG;
	if (count > (size_t)(thrift->end - thrift->at) || out->item < THRIFT_TRUE ||
	    out->item > THRIFT_STRUCT)
		return -EBADMSG;
	out->count = (uint32_t)count;
	return count > UINT32_MAX ? -EBADMSG : 0;
}

/* The part of a value in its head: all of a number or text, of a list its length. */
static int thrift_read_value(struct thrift *thrift, struct thrift_field *out)
{
	switch (out->type) {
	case THRIFT_TRUE:
	case THRIFT_FALSE:
		out->number = out->type == THRIFT_TRUE;
		return 0;
	case THRIFT_I8:
	case THRIFT_DOUBLE: {
		size_t n = out->type == THRIFT_I8 ? 1 : DOUBLE_BYTES;

		if ((size_t)(thrift->end - thrift->at) < n)
			return -EBADMSG;
		out->number = *thrift->at;
		thrift->at += n;
		return 0;
	}
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		return read_zigzag(thrift, &out->number);
	case THRIFT_BINARY:
		return read_binary(thrift, out);
	case THRIFT_LIST:
	case THRIFT_SET:
		return read_list_head(thrift, out);
	case THRIFT_STRUCT:
		return 0;
	case THRIFT_MAP: /* Parquet has none */
	default:
		return -EBADMSG;
	}
}

static int pass_over(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	(void)thrift;
	(void)field;
	(void)context;
	return 0;
}

/* Visits a field or an item, and passes over what was not read of it. */
static int visit_value(struct thrift *thrift, const struct thrift_field *field,
		       thrift_visit *visit, void *context)
{
	int r = visit(thrift, field, context);

	if (r)
		return r < 0 ? r : 0;
	if (field->type == THRIFT_STRUCT)
		return thrift_read_struct(thrift, pass_over, NULL);
	if (field->type == THRIFT_LIST || field->type == THRIFT_SET)
		return thrift_read_list(thrift, field, pass_over, NULL);
	return 0;
}

int thrift_read_list(struct thrift *thrift, const struct thrift_field *list,
		     thrift_visit *visit, void *context)
{
	int err = 0;

	if (++thrift->depth > THRIFT_DEPTH_MOST)
		return -EBADMSG;
	for (uint32_t i = 0; i < list->count && !err; i++) {
		struct thrift_field item = { .id = list->id, .type = list->item };

		if (item.type == THRIFT_TRUE || item.type == THRIFT_FALSE)
			item.type = THRIFT_I8; /* a byte each */
		err = thrift_read_value(thrift, &item);
		if (!err)
			err = visit_value(thrift, &item, visit, context);
	}
	thrift->depth--;
	return err;
}

/* The head of the next field: 1, 0 at the struct's end, or -EBADMSG. */
static int read_head(struct thrift *thrift, int before, struct thrift_field *out)
{
	int64_t id = before;
	unsigned head;

	if (thrift->at == thrift->end)
		return -EBADMSG;
	head = *thrift->at++;
	if (head == 0)
		return 0;
	if (head >> 4)
		id += head >> 4;
	else if (read_zigzag(thrift, &id) < 0)
		return -EBADMSG;
	if (id < 0 || id > INT16_MAX)
		return -EBADMSG;
	*out = (struct thrift_field){ .id = (int)id, .type = (enum thrift_type)(head & 15) };
	return thrift_read_value(thrift, out) < 0 ? -EBADMSG : 1;
}

int thrift_read_struct(struct thrift *thrift, thrift_visit *visit, void *context)
{
	struct thrift_field field = { .id = 0 };
	int r;

	if (++thrift->depth > THRIFT_DEPTH_MOST)
		return -EBADMSG;
	while ((r = read_head(thrift, field.id, &field)) > 0) {
		r = visit_value(thrift, &field, visit, context);
		if (r)
			return r;
	}
	thrift->depth--;
	return r;
}

bool thrift_is_number(const struct thrift_field *field)
{
	return field->type >= THRIFT_I8 && field->type <= THRIFT_I64;
}
