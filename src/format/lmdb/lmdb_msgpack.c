/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list in msgpack, [image, label], as tensorpack writes it: an array of numpy is a map
 * with its bytes under "data" (msgpack_numpy). Facts: the specification at
 * github.com/msgpack.
 */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ieee.h"
#include "format/lmdb/lmdb_value.h"

enum { ITEMS_MOST = 16, VALUES_MOST = 4096, HEAD_BYTES = 9, NUMBER_BYTES = 8 };

enum msgpack_kind {
	MSGPACK_UNKNOWN,
	MSGPACK_OTHER, /* nil, a bool, a float */
	MSGPACK_INT,
	MSGPACK_STR,
	MSGPACK_BIN,
	MSGPACK_LIST,
	MSGPACK_MAP,
};

struct msgpack {
	struct value_window *window;
	uint64_t at, end;
	unsigned left; /* values that may still be read */
};

struct msgpack_value {
	enum msgpack_kind kind;
	uint64_t at, size; /* its bytes; of a list or a map the number of its values */
	int64_t number;
};

/* By the first byte, from 0xc0 on: a number of `width` bytes follows, which is the value,
   or the size of what it holds. */
static const struct msgpack_type {
	enum msgpack_kind kind;
	unsigned char width;
	bool is_signed;
} msgpack_types[32] = {
	[0x00] = {MSGPACK_OTHER, 0, false}, [0x02 ... 0x03] = {MSGPACK_OTHER, 0, false},
	[0x04] = {MSGPACK_BIN, 1, false},   [0x05] = {MSGPACK_BIN, 2, false},
	[0x06] = {MSGPACK_BIN, 4, false},   [0x0a] = {MSGPACK_OTHER, 4, false},
	[0x0b] = {MSGPACK_OTHER, 8, false}, [0x0c] = {MSGPACK_INT, 1, false},
	[0x0d] = {MSGPACK_INT, 2, false},   [0x0e] = {MSGPACK_INT, 4, false},
	[0x0f] = {MSGPACK_INT, 8, false},   [0x10] = {MSGPACK_INT, 1, true},
	[0x11] = {MSGPACK_INT, 2, true},    [0x12] = {MSGPACK_INT, 4, true},
	[0x13] = {MSGPACK_INT, 8, true},    [0x19] = {MSGPACK_STR, 1, false},
	[0x1a] = {MSGPACK_STR, 2, false},   [0x1b] = {MSGPACK_STR, 4, false},
	[0x1c] = {MSGPACK_LIST, 2, false},  [0x1d] = {MSGPACK_LIST, 4, false},
	[0x1e] = {MSGPACK_MAP, 2, false},   [0x1f] = {MSGPACK_MAP, 4, false},
};

static int64_t sign_extend(uint64_t value, unsigned bytes)
{
	if (bytes < 8 && value >> (8 * bytes - 1) & 1)
		value |= UINT64_MAX << 8 * bytes;
	return (int64_t)value;
}

/* A value whose first byte has all of it but its contents; false: it is another. */
static bool msgpack_short_value(unsigned code, struct msgpack_value *out)
{
	if (code >= 0xc0 && code < 0xe0)
		return false;
	*out = code < 0x80
		       ? (struct msgpack_value){.kind = MSGPACK_INT, .number = (int)code}
	       : code < 0x90
		       ? (struct msgpack_value){.kind = MSGPACK_MAP, .size = code & 15}
	       : code < 0xa0
		       ? (struct msgpack_value){.kind = MSGPACK_LIST, .size = code & 15}
	       : code < 0xc0
		       ? (struct msgpack_value){.kind = MSGPACK_STR, .size = code & 31}
		       : (struct msgpack_value){.kind = MSGPACK_INT,
						.number = (int)code - 256};
	return true;
}

/* The next value, without those that it holds; -ENODATA: there is none that is known. */
static int msgpack_next(struct msgpack *m, struct msgpack_value *out)
{
	uint64_t room = m->end - m->at;
	const struct msgpack_type *type;
	const unsigned char *head;
	unsigned width = 0;
	int err;

	if (room == 0 || m->left-- == 0)
		return -ENODATA;
	err = value_window_get(m->window, m->at,
			       room < HEAD_BYTES ? (size_t)room : HEAD_BYTES, &head);
	if (err)
		return err;
	if (!msgpack_short_value(*head, out)) {
		type = &msgpack_types[*head - 0xc0];
		width = type->width;
		if (type->kind == MSGPACK_UNKNOWN || room < 1 + (uint64_t)width)
			return -ENODATA;
		*out = (struct msgpack_value){.kind = type->kind};
		if (type->kind >= MSGPACK_STR)
			out->size = big_endian(head + 1, width);
		else
			out->number =
				type->is_signed
					? sign_extend(big_endian(head + 1, width), width)
					: (int64_t)big_endian(head + 1, width);
	}
	m->at += 1 + width;
	out->at = m->at;
	if (out->kind == MSGPACK_MAP)
		out->size *= 2;
	if (out->kind != MSGPACK_STR && out->kind != MSGPACK_BIN)
		return 0;
	if (out->size > m->end - m->at)
		return -ENODATA;
	m->at += out->size;
	return 0;
}

/* An array or a scalar of numpy: '<', '>' or '|', the letter of its type, its bytes. */
struct msgpack_array {
	struct msgpack_value bytes;
	char order, letter;
};

enum msgpack_key { KEY_OTHER, KEY_DATA, KEY_TYPE };

/* The first bytes of a text: `n` of them, or false. */
static int msgpack_text(struct msgpack *m, const struct msgpack_value *value, size_t n,
			const unsigned char **text)
{
	bool is = (value->kind == MSGPACK_STR || value->kind == MSGPACK_BIN) && value->size >= n;

	*text = NULL;
	return is ? value_window_get(m->window, value->at, n, text) : 0;
}

static int msgpack_read_key(struct msgpack *m, const struct msgpack_value *value,
			    enum msgpack_key *key)
{
	const unsigned char *text;
	int err = value->size == 4 ? msgpack_text(m, value, 4, &text) : 0;

	*key = KEY_OTHER;
	if (!err && value->size == 4 && text)
		*key = memcmp(text, "data", 4) == 0 ? KEY_DATA :
		       memcmp(text, "type", 4) == 0 ? KEY_TYPE : KEY_OTHER;
	return err;
}

static int msgpack_read_type(struct msgpack *m, const struct msgpack_value *value,
			     struct msgpack_array *out)
{
	const unsigned char *text;
	int err = msgpack_text(m, value, 2, &text);

	if (!err && text) {
		out->order = (char)text[0];
		out->letter = (char)text[1];
	}
	return err;
}

/* Passes the values in a list or a map. The bytes of "data", or else the largest among
   them, are those of *out. */
static int msgpack_pass(struct msgpack *m, uint64_t values, struct msgpack_array *out)
{
	enum msgpack_key key = KEY_OTHER;

	while (values-- > 0) {
		struct msgpack_value value;
		int err = msgpack_next(m, &value);

		if (!err && key == KEY_DATA && value.kind == MSGPACK_BIN)
			out->bytes = value;
		if (!err && key == KEY_TYPE)
			err = msgpack_read_type(m, &value, out);
		if (!err)
			err = msgpack_read_key(m, &value, &key);
		if (err)
			return err;
		if (value.kind == MSGPACK_LIST || value.kind == MSGPACK_MAP)
			values += value.size;
		else if (value.kind == MSGPACK_BIN && value.size > NUMBER_BYTES &&
			 value.size > out->bytes.size)
			out->bytes = value;
	}
	return 0;
}

/* The number in a scalar's bytes; false: it is no whole one. */
static bool msgpack_number(const struct msgpack_array *array, const unsigned char *bytes,
			   int64_t *out)
{
	unsigned size = (unsigned)array->bytes.size;
	uint64_t bits = array->order == '>' ? big_endian(bytes, size) :
					      little_endian(bytes, size);

	switch (array->letter) {
	case 'i':
		*out = sign_extend(bits, size);
		return true;
	case 'u':
	case 'b':
		*out = (int64_t)bits;
		return *out >= 0;
	case 'f':
		return (size == 2 || size == 4 || size == 8) &&
		       ieee_whole(ieee_value(bits, size), out);
	default:
		return false;
	}
}

/* An item of the outer list: the image, or a label. */
static int msgpack_take(struct msgpack *m, const struct msgpack_value *item,
			const struct msgpack_array *array, struct lmdb_sample *out)
{
	const struct msgpack_value *bytes = &array->bytes;
	const unsigned char *text;
	int64_t number = 0;
	int err = 0;

	if (item->kind == MSGPACK_INT && !out->labelled) {
		lmdb_label_number(out, item->number);
	} else if (item->kind == MSGPACK_STR && item->size <= LMDB_TEXT_MOST &&
		   !out->labelled) {
		err = value_window_get(m->window, item->at, (size_t)item->size, &text);
		if (!err)
			lmdb_label_text(out, (const char *)text, (size_t)item->size);
	} else if (item->kind == MSGPACK_MAP && !out->labelled && bytes->size > 0 &&
		   bytes->size <= NUMBER_BYTES) {
		err = value_window_get(m->window, bytes->at, (size_t)bytes->size, &text);
		if (!err && msgpack_number(array, text, &number))
			lmdb_label_number(out, number);
	} else if (bytes->size > out->size) {
		out->at = bytes->at;
		out->size = bytes->size;
	}
	return err;
}

int lmdb_decode_msgpack(struct value_window *window, uint64_t at, uint64_t size,
			const char *labels, struct lmdb_sample *out)
{
	struct msgpack m = {window, at, at + size, VALUES_MOST};
	struct msgpack_value list, item;
	int err = msgpack_next(&m, &list);

	(void)labels;
	if (!err &&
	    (list.kind != MSGPACK_LIST || list.size == 0 || list.size > ITEMS_MOST))
		err = -ENODATA;
	for (uint64_t i = 0; !err && i < list.size; i++) {
		struct msgpack_array array = {.bytes = {.size = 0}};

		err = msgpack_next(&m, &item);
		if (!err && item.kind == MSGPACK_BIN)
			array.bytes = item;
		if (!err && (item.kind == MSGPACK_LIST || item.kind == MSGPACK_MAP))
			err = msgpack_pass(&m, item.size, &array);
		if (!err)
			err = msgpack_take(&m, &item, &array, out);
	}
	return err || (out->size && m.at == m.end) ? err : -ENODATA;
}
