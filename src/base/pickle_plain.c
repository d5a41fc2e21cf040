/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickle_plain.c: the few calls in pickles of plain data, of which it is known what they
 * make: dicts of collections, numbers and arrays of numpy. Facts: numpy's __reduce__ of
 * scalars, dtypes and arrays.
 */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/utf8.h"
#include "base/pickle_reader.h"

enum { MADE_FREE = 65536, ELEMENT_BYTES = 32 /* of memory: a value, and its place */ };

enum known { UNKNOWN, FACTORY, MAPPING, ENCODE, DTYPE, SCALAR, ARRAY, BUFFER };

static const struct {
	const char *name;
	enum known known;
} classes[] = {
	{"collections OrderedDict", MAPPING},
	{"collections defaultdict", MAPPING},
	{"__builtin__ int", FACTORY},
	{"__builtin__ long", FACTORY},
	{"__builtin__ float", FACTORY},
	{"__builtin__ str", FACTORY},
	{"__builtin__ unicode", FACTORY},
	{"__builtin__ list", FACTORY},
	{"__builtin__ dict", FACTORY},
	{"builtins int", FACTORY},
	{"builtins float", FACTORY},
	{"builtins str", FACTORY},
	{"builtins list", FACTORY},
	{"builtins dict", FACTORY},
	{"_codecs encode", ENCODE},
	{"numpy ndarray", FACTORY},
	{"numpy dtype", DTYPE},
	{"numpy.core.multiarray scalar", SCALAR},
	{"numpy._core.multiarray scalar", SCALAR},
	{"numpy.core.multiarray _reconstruct", ARRAY},
	{"numpy._core.multiarray _reconstruct", ARRAY},
	{"numpy.core.numeric _frombuffer", BUFFER},
	{"numpy._core.numeric _frombuffer", BUFFER},
};

static enum known known_class(const char *name)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (strcmp(classes[i].name, name) == 0)
			return classes[i].known;
	return UNKNOWN;
}

static int plain_name(void *context, const char *class_name)
{
	return known_class(class_name) == UNKNOWN ? -ENOTSUP : 0;
}

/* Item i of a tuple or list; NULL: it has none. */
static const struct pickle_value *pickle_plain_item_of(struct pickle_reader *r,
						       uint32_t id, unsigned i)
{
	struct pickle_walk walk = pickle_items(r->out, pickle_at(r, id));
	const struct pickle_value *item = pickle_next(&walk);

	while (item && i-- > 0)
		item = pickle_next(&walk);
	return item;
}

static uint32_t id_of(const struct pickle_reader *r, const struct pickle_value *value)
{
	return (uint32_t)(value - r->out->values.items);
}

/* Limits the values that an input may make of one piece of it again and again. */
static int charge(struct pickle_reader *r, uint64_t bytes)
{
	uint64_t most = 8 * (r->input->end - r->input->begin) + MADE_FREE;

	if (bytes <= most && r->made <= most - bytes) {
		r->made += bytes;
		return 0;
	}
	return pickle_refuse_unsupported(
		r, "arrays that take eight times the memory of the file; write "
		   "lists of int");
}

/* ---- Dicts ---- */

/* [["a", 1], ["b", 2]], as Python 2 writes an OrderedDict. */
static int add_pairs(struct pickle_reader *r, uint32_t dict, uint32_t list)
{
	struct pickle_walk walk = pickle_items(r->out, pickle_at(r, list));
	const struct pickle_value *pair;
	int err = 0;

	while (!err && (pair = pickle_next(&walk))) {
		uint32_t id = id_of(r, pair);
		const struct pickle_value *key = pickle_plain_item_of(r, id, 0),
					  *value = pickle_plain_item_of(r, id, 1);

		if (!value || pickle_at(r, id)->size != 2 || key->kind >= PICKLE_LIST)
			return pickle_refuse_opcode(r);
		err = charge(r, ELEMENT_BYTES);
		if (!err)
			err = pickle_append(r, dict, id_of(r, key));
		if (!err)
			err = pickle_append(r, dict, id_of(r, value));
	}
	return err;
}

static int make_mapping(struct pickle_reader *r, uint32_t arguments)
{
	const struct pickle_value empty = {.kind = PICKLE_DICT};
	const struct pickle_value *first = pickle_plain_item_of(r, arguments, 0);
	bool pairs = first && first->kind == PICKLE_LIST;
	uint32_t list = pairs ? id_of(r, first) : 0, dict;
	int err;

	if (first && !pairs && first->kind != PICKLE_CLASS && first->kind != PICKLE_NONE)
		return pickle_refuse_opcode(r);
	err = pickle_add_value(r, &empty, &dict);
	if (!err && pairs)
		err = add_pairs(r, dict, list);
	return err ? err : pickle_push_id(r, dict);
}

/* ---- Bytes of Python 3 in protocols up to 2 ---- */

static int encode_latin1(struct pickle_reader *r, uint32_t arguments)
{
	const struct pickle_value *text = pickle_plain_item_of(r, arguments, 0);
	struct pickle_value value = {.kind = PICKLE_BYTES};
	char *bytes;

	if (!text || text->kind != PICKLE_STR)
		return pickle_refuse_opcode(r);
	if (charge(r, text->size) < 0)
		return -ENOTSUP;
	bytes = arena_alloc(&r->out->arena, (size_t)text->size + 1);
	if (!bytes)
		return pickle_no_memory(r);
	for (uint32_t i = 0; i < text->size;) {
		uint32_t character;
		unsigned n = utf8_decode(text->text + i, text->size - i, &character);

		if (n == 0 || character > 0xff)
			return pickle_refuse_opcode(r);
		bytes[value.size++] = (char)character;
		i += n;
	}
	value.text = bytes;
	return pickle_push(r, &value);
}

/* ---- Numpy ---- */

struct numpy_type {
	char kind; /* i, u, f, b; U and S: text */
	uint32_t bytes;
	bool big_endian;
};

static bool text_is_kept(const struct pickle_value *value)
{
	return value && (value->kind == PICKLE_STR || value->kind == PICKLE_BYTES) &&
	       value->text;
}

/* dtype('i8', False, True), whose state is (3, '<', ...) */
static bool read_numpy_type(struct pickle_reader *r, const struct pickle_value *value,
			    struct numpy_type *out)
{
	const struct pickle_value *code, *order;

	if (!value || value->kind != PICKLE_OBJECT ||
	    known_class(pickle_at(r, value->object.class)->text) != DTYPE)
		return false;
	code = pickle_plain_item_of(r, value->size, 0);
	if (!text_is_kept(code) || code->size < 2 || code->size > 8)
		return false;
	*out = (struct numpy_type){.kind = code->text[0]};
	for (uint32_t i = 1; i < code->size; i++) {
		if (code->text[i] < '0' || code->text[i] > '9')
			return false;
		out->bytes = out->bytes * 10 + (uint32_t)(code->text[i] - '0');
	}
	out->bytes *= out->kind == 'U' ? 4 : 1;
	order = value->object.state_plus_1
			? pickle_plain_item_of(r, value->object.state_plus_1 - 1, 1)
			: NULL;
	out->big_endian = text_is_kept(order) && order->size == 1 && *order->text == '>';
	return out->bytes > 0;
}

static int make_numpy_text(struct pickle_reader *r, const struct numpy_type *type,
			   const unsigned char *at, struct pickle_value *out)
{
	uint32_t n = type->bytes, width = type->kind == 'U' ? 4 : 1;
	int err = charge(r, n);
	char *text = err ? NULL : arena_alloc(&r->out->arena, (size_t)n + 1);

	*out = (struct pickle_value){.kind = width == 4 ? PICKLE_STR : PICKLE_BYTES,
				     .text = text};
	if (err)
		return err;
	if (!text)
		return pickle_no_memory(r);
	while (n && all_zero(at + n - width, width))
		n -= width;
	for (uint32_t i = 0; i < n; i += width) {
		uint32_t c = (uint32_t)little_endian(at + i, width);

		if (width == 4 && type->big_endian)
			c = __builtin_bswap32(c);
		if (width == 4 && (c > 0x10ffff || utf8_is_surrogate(c)))
			return pickle_refuse(r, "a character that is none");
		if (width == 4)
			out->size += utf8_encode(text + out->size, c);
		else
			text[out->size++] = (char)c;
	}
	return 0;
}

static int make_numpy_value(struct pickle_reader *r, const struct numpy_type *type,
			    const unsigned char *at, struct pickle_value *out)
{
	unsigned bytes = type->bytes;
	uint64_t number;

	if (type->kind == 'U' || type->kind == 'S')
		return make_numpy_text(r, type, at, out);
	if (bytes > 8 || (bytes & (bytes - 1)) || !memchr("iufb", type->kind, 4))
		return pickle_refuse_opcode(r);
	number = little_endian(at, bytes);
	if (type->big_endian)
		number = __builtin_bswap64(number) >> (64 - 8 * bytes);
	*out = (struct pickle_value){.kind = type->kind == 'b' ? PICKLE_BOOL
							       : PICKLE_INT};
	if (type->kind == 'f' && bytes >= 4) {
		uint32_t word = (uint32_t)number;
		float single;

		out->kind = PICKLE_FLOAT;
		memcpy(&single, &word, sizeof(single));
		memcpy(&out->real, &number, sizeof(number));
		if (bytes == 4)
			out->real = (double)single;
		return 0;
	}
	if (type->kind == 'f' || (type->kind == 'u' && number > INT64_MAX))
		return pickle_refuse_opcode(r);
	if (type->kind == 'i' && bytes < 8 && number >> (8 * bytes - 1))
		number |= UINT64_MAX << (8 * bytes);
	out->number = (int64_t)number;
	return 0;
}

static int make_scalar(struct pickle_reader *r, uint32_t arguments)
{
	const struct pickle_value *data = pickle_plain_item_of(r, arguments, 1);
	struct pickle_value value;
	struct numpy_type type;
	int err;

	if (!read_numpy_type(r, pickle_plain_item_of(r, arguments, 0), &type) ||
	    !text_is_kept(data) || data->size != type.bytes)
		return pickle_refuse_opcode(r);
	err = make_numpy_value(r, &type, (const unsigned char *)data->text, &value);
	return err ? err : pickle_push(r, &value);
}

/* The elements of an array of one dimension, in the list that is there. */
static int pickle_plain_fill_array(struct pickle_reader *r, uint32_t list,
				   const struct pickle_value *shape,
				   const struct pickle_value *dtype,
				   const struct pickle_value *data)
{
	const struct pickle_value *length =
		shape && shape->kind == PICKLE_TUPLE
			? pickle_plain_item_of(r, id_of(r, shape), 0)
			: NULL;
	const unsigned char *bytes;
	struct numpy_type type;
	uint64_t size;
	int err = 0;

	if (!length || shape->size != 1 || length->kind != PICKLE_INT ||
	    length->number < 0 || !read_numpy_type(r, dtype, &type) ||
	    !text_is_kept(data) ||
	    !checked_mul((uint64_t)length->number, type.bytes, &size) ||
	    size != data->size)
		return pickle_refuse_opcode(r);
	/* values move when some are added */
	bytes = (const unsigned char *)data->text;
	for (uint64_t at = 0; at < size && !err; at += type.bytes) {
		struct pickle_value value;
		uint32_t id;

		err = charge(r, ELEMENT_BYTES);
		if (!err)
			err = make_numpy_value(r, &type, bytes + at, &value);
		if (!err)
			err = pickle_add_value(r, &value, &id);
		if (!err)
			err = pickle_append(r, list, id);
	}
	return err;
}

static int make_buffer(struct pickle_reader *r, uint32_t arguments)
{
	const struct pickle_value empty = {.kind = PICKLE_LIST};
	uint32_t list;
	int err = pickle_add_value(r, &empty, &list);

	if (!err)
		err = pickle_plain_fill_array(r, list,
					      pickle_plain_item_of(r, arguments, 2),
					      pickle_plain_item_of(r, arguments, 1),
					      pickle_plain_item_of(r, arguments, 0));
	return err ? err : pickle_push_id(r, list);
}

static int plain_call(struct pickle_reader *r, uint32_t class, uint32_t arguments)
{
	enum known known = known_class(pickle_at(r, class)->text);

	if (known == MAPPING)
		return make_mapping(r, arguments);
	if (known == ENCODE)
		return encode_latin1(r, arguments);
	if (known == SCALAR)
		return make_scalar(r, arguments);
	if (known == BUFFER)
		return make_buffer(r, arguments);
	if (known != DTYPE && known != ARRAY)
		return pickle_refuse_opcode(r);
	return pickle_push_object(r, class, arguments);
}

/* (1, shape, dtype, Fortran's order, bytes or a list): the object becomes a list. */
static int build_array(struct pickle_reader *r, uint32_t object, uint32_t state)
{
	const struct pickle_value *data = pickle_plain_item_of(r, state, 4),
				  *shape = pickle_plain_item_of(r, state, 1);

	if (data && shape && data->kind == PICKLE_LIST && shape->kind == PICKLE_TUPLE &&
	    shape->size == 1) {
		*pickle_at(r, object) = *data;
		return 0;
	}
	*pickle_at(r, object) = (struct pickle_value){.kind = PICKLE_LIST};
	return pickle_plain_fill_array(r, object, pickle_plain_item_of(r, state, 1),
				       pickle_plain_item_of(r, state, 2), data);
}

static int plain_build(struct pickle_reader *r, uint32_t object, uint32_t state)
{
	struct pickle_value *value = pickle_at(r, object);
	enum known known = known_class(pickle_at(r, value->object.class)->text);

	if (pickle_at(r, state)->kind != PICKLE_TUPLE)
		return pickle_refuse_opcode(r);
	if (known == ARRAY)
		return build_array(r, object, state);
	return pickle_note_state(r, object, state);
}

const struct pickle_policy pickle_plain = {
	.name = plain_name,
	.call = plain_call,
	.build = plain_build,
};
