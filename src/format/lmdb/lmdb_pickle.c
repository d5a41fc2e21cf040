/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickle.dumps((image, label)) and the like. The image is bytes, an io.BytesIO, a list of
 * one of these, an array of numpy that holds a file or pixels, or an image of PIL; the
 * label an int, a text, or a number of numpy. Of objects only their class's name, and
 * what they would be made of, are noted. Facts: __reduce__ and __getstate__ of these
 * classes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/ieee.h"
#include "base/pickle.h"
#include "format/lmdb/lmdb_value.h"
#include "labels/column_rules.h"
#include "labels/label_rules.h"
#include "labels/label_text.h"
#include "names/label_words.h"

/* Limits above all metadata of images, and below an attack's. */
enum {
	VALUES_MOST = 16384,
	STEPS_MOST = 200000,
	LINE_MOST = 512,
	ITEMS_MOST = 16,   /* of the outer tuple, list or dict */
	DEEP_MOST = 3,	   /* lists around an image */
	ARRAY_MOST = 8192, /* bytes of an array that is a label */
	PARTS = 6,	   /* of an object's state or arguments that are looked at */
};

struct pickle_sample {
	struct value_window *window;
	const struct pickle *pickle;
	struct lmdb_sample *out;
};

/* ---- Objects: their class, and the parts that they would be made of ---- */

static bool class_is(const struct pickle_sample *s, const struct pickle_value *object,
		     const char *begin, const char *end)
{
	const char *text = pickle_value(s->pickle, object->object.class)->text;
	size_t n = strlen(text), tail = strlen(end);

	return strncmp(text, begin, strlen(begin)) == 0 && n >= tail &&
	       strcmp(text + n - tail, end) == 0;
}

/* The first items of a tuple or a list; the others of `out` are NULL. */
static void pickle_parts(const struct pickle_sample *s, const struct pickle_value *of,
			 const struct pickle_value *out[PARTS])
{
	struct pickle_walk walk = pickle_items(s->pickle, of);

	for (unsigned i = 0; i < PARTS; i++)
		out[i] = pickle_next(&walk);
}

static void pickle_arguments(const struct pickle_sample *s,
			     const struct pickle_value *object,
			     const struct pickle_value *out[PARTS])
{
	pickle_parts(s, pickle_value(s->pickle, object->size), out);
}

static void pickle_state(const struct pickle_sample *s, const struct pickle_value *object,
			 const struct pickle_value *out[PARTS])
{
	memset(out, 0, PARTS * sizeof(*out));
	if (object->object.state_plus_1)
		pickle_parts(s, pickle_value(s->pickle, object->object.state_plus_1 - 1),
			     out);
}

/* ---- Arrays of numpy ---- */

struct numpy_array {
	const struct pickle_value *bytes, *shape, *type;
	bool c_order; /* the last index runs fastest */
};

static bool text_is(const struct pickle_value *value, char letter)
{
	return value && value->kind == PICKLE_STR && value->size == 1 && value->text &&
	       *value->text == letter;
}

/* The parts of an array or a scalar; false: the value is neither. */
static bool find_array(const struct pickle_sample *s, const struct pickle_value *value,
		       struct numpy_array *out)
{
	const struct pickle_value *parts[PARTS];

	*out = (struct numpy_array){ .bytes = NULL };
	if (value->kind != PICKLE_OBJECT || !class_is(s, value, "numpy", ""))
		return false;
	if (class_is(s, value, "", " _reconstruct")) {
		pickle_state(s, value, parts);
		*out = (struct numpy_array){parts[4], parts[1], parts[2],
					    parts[3] && parts[3]->kind == PICKLE_BOOL &&
						    !parts[3]->number};
	} else if (class_is(s, value, "", " _frombuffer")) {
		pickle_arguments(s, value, parts);
		*out = (struct numpy_array){
			parts[0], parts[2], parts[1],
			text_is(parts[3], 'C') &&
				(!parts[4] || parts[4]->kind == PICKLE_NONE)};
	} else if (class_is(s, value, "", " scalar")) {
		pickle_arguments(s, value, parts);
		*out = (struct numpy_array){parts[1], NULL, parts[0], true};
	}
	return out->c_order && out->bytes && out->bytes->kind == PICKLE_BYTES &&
	       out->type && out->type->kind == PICKLE_OBJECT;
}

/* The type's code, "i8"; or NULL. */
static const char *array_type(const struct pickle_sample *s,
			      const struct numpy_array *array)
{
	const struct pickle_value *parts[PARTS];

	pickle_arguments(s, array->type, parts);
	return parts[0] && parts[0]->kind == PICKLE_STR && parts[0]->size == 2
		       ? parts[0]->text
		       : NULL;
}

static bool array_big_endian(const struct pickle_sample *s,
			     const struct numpy_array *array)
{
	const struct pickle_value *parts[PARTS];

	pickle_state(s, array->type, parts);
	return text_is(parts[1], '>');
}

/* Bytes of a file, or pixels, whose shape is one that all formats take for an image's. */
static bool take_array(const struct pickle_sample *s, const struct numpy_array *array)
{
	struct catalogue_item item = {
		.type = ITEM_INTEGER, .bytes = 1, .rank = 1, .dims = {1}};
	const char *type = array_type(s, array);
	struct image_shape shape;
	struct pickle_walk walk;
	const struct pickle_value *side;
	uint64_t size = 1;

	if (!type || memcmp(type, "u1", 2) != 0 || !array->shape ||
	    array->shape->kind != PICKLE_TUPLE)
		return false;
	for (walk = pickle_items(s->pickle, array->shape); (side = pickle_next(&walk));) {
		if (side->kind != PICKLE_INT || side->number <= 0 || item.rank == 4 ||
		    !checked_mul(size, (uint64_t)side->number, &size))
			return false;
		item.dims[item.rank++] = (uint64_t)side->number;
	}
	if (size != array->bytes->size)
		return false;
	s->out->at = array->bytes->place;
	s->out->size = size;
	if (item.rank == 2)
		return true;
	if (!label_rules_shape(&item, &shape) ||
	    (shape.colours != 1 && shape.colours != 3) ||
	    (shape.ordered && !shape.planes))
		return false;
	s->out->width = shape.width;
	s->out->height = shape.height;
	s->out->channels = (unsigned)shape.colours;
	s->out->planes = shape.planes && shape.colours == 3;
	return true;
}

/* ---- Images ---- */

/* The state of PIL's Image: info, mode, size, palette, pixels. */
static bool take_pil(const struct pickle_sample *s, const struct pickle_value *value)
{
	const struct pickle_value *parts[PARTS], *sides[PARTS];
	uint64_t size;

	pickle_state(s, value, parts);
	if (!parts[4] || parts[1]->kind != PICKLE_STR || !parts[1]->text ||
	    parts[2]->kind != PICKLE_TUPLE || parts[4]->kind != PICKLE_BYTES)
		return false;
	pickle_parts(s, parts[2], sides);
	if (!sides[1] || sides[0]->kind != PICKLE_INT || sides[1]->kind != PICKLE_INT ||
	    sides[0]->number <= 0 || sides[1]->number <= 0)
		return false;
	s->out->channels = parts[1]->size == 3 && memcmp(parts[1]->text, "RGB", 3) == 0
				   ? 3
			   : parts[1]->size == 1 && *parts[1]->text == 'L' ? 1
									   : 0;
	s->out->width = (uint64_t)sides[0]->number;
	s->out->height = (uint64_t)sides[1]->number;
	s->out->at = parts[4]->place;
	s->out->size = parts[4]->size;
	return s->out->channels && checked_mul(s->out->width, s->out->height, &size) &&
	       checked_mul(size, s->out->channels, &size) && size == s->out->size;
}

static bool take_bytes(const struct pickle_sample *s, const struct pickle_value *value)
{
	if (!value || value->kind != PICKLE_BYTES || value->size == 0)
		return false;
	s->out->at = value->place;
	s->out->size = value->size;
	return true;
}

/* Is the value an image? Then its place is noted. */
static bool take_image(const struct pickle_sample *s, const struct pickle_value *value)
{
	const struct pickle_value *parts[PARTS];
	struct numpy_array array;

	for (unsigned deep = 0;
	     deep < DEEP_MOST && value->size == 1 &&
	     (value->kind == PICKLE_LIST || value->kind == PICKLE_TUPLE);
	     deep++) {
		struct pickle_walk walk = pickle_items(s->pickle, value);

		value = pickle_next(&walk);
	}
	if (value->kind != PICKLE_OBJECT)
		return take_bytes(s, value);
	if (find_array(s, value, &array))
		return take_array(s, &array);
	if (class_is(s, value, "PIL.", ""))
		return take_pil(s, value);
	if (!class_is(s, value, "_io ", "BytesIO"))
		return false;
	pickle_state(s, value, parts);
	return take_bytes(s, parts[0]);
}

/* ---- Labels ---- */

/* One number of an array; false: it is not whole. */
static bool array_number(char kind, const unsigned char *bytes, unsigned width,
			 bool is_big_endian, int64_t *out)
{
	uint64_t number =
		is_big_endian ? big_endian(bytes, width) : little_endian(bytes, width);

	if (kind == 'f')
		return ieee_whole(ieee_value(number, width), out);
	if (kind == 'i' && width < 8 && number >> (8 * width - 1) & 1)
		number |= UINT64_MAX << 8 * width;
	*out = (int64_t)number;
	return true;
}

/* Several numbers: the place of the 1; rows of zeros have no label, and others are none.
 */
static int label_of_row(const struct pickle_sample *s, const struct one_hot *row)
{
	s->out->label_list = row->odd;
	if (one_hot_is(row))
		lmdb_label_number(s->out, row->label);
	return row->odd ? -ENODATA : 0;
}

/* An array of one number, a scalar, or an array that is one-hot. */
static int label_of_array(const struct pickle_sample *s, const struct numpy_array *array)
{
	const char *type = array_type(s, array);
	unsigned width = type && strchr("1248", type[1]) ? (unsigned)(type[1] - '0') : 0;
	struct one_hot row = {0};
	const unsigned char *bytes;
	bool whole = false, big = array_big_endian(s, array);
	int64_t number = 0;
	int err;

	if (!width || !strchr(width > 1 ? "iuf" : "iub", *type) ||
	    array->bytes->size % width || array->bytes->size == 0 ||
	    array->bytes->size > ARRAY_MOST)
		return -ENODATA;
	err = value_window_get(s->window, array->bytes->place, array->bytes->size,
			       &bytes);
	for (uint32_t at = 0; at < array->bytes->size && !err; at += width) {
		whole = array_number(*type, bytes + at, width, big, &number);
		one_hot_add(&row, whole, number);
	}
	if (err)
		return err;
	if (row.count > 1)
		return label_of_row(s, &row);
	if (whole)
		lmdb_label_number(s->out, number);
	return 0;
}

/* A list that is one-hot. */
static int label_of_list(const struct pickle_sample *s, const struct pickle_value *list)
{
	struct pickle_walk walk = pickle_items(s->pickle, list);
	const struct pickle_value *item;
	struct one_hot row = {0};

	while ((item = pickle_next(&walk))) {
		bool whole = item->kind == PICKLE_INT || item->kind == PICKLE_BOOL;

		if (!whole && item->kind != PICKLE_FLOAT)
			return -ENODATA;
		one_hot_add(&row, whole, whole ? item->number : 0);
	}
	return row.count > 1 ? label_of_row(s, &row) : -ENODATA;
}

/* Notes the label that the value is; -ENODATA: it is none. */
static int take_label(const struct pickle_sample *s, const struct pickle_value *value)
{
	struct numpy_array array;

	if (value->kind == PICKLE_NONE)
		return 0;
	if (value->kind == PICKLE_INT || value->kind == PICKLE_BOOL) {
		lmdb_label_number(s->out, value->number);
		return 0;
	}
	if (value->kind == PICKLE_STR && value->text && value->size <= LMDB_TEXT_MOST) {
		lmdb_label_text(s->out, value->text, value->size);
		return 0;
	}
	if (value->kind == PICKLE_FLOAT) {
		s->out->labelled = ieee_whole(value->real, &s->out->label);
		return 0;
	}
	if (value->kind == PICKLE_LIST || value->kind == PICKLE_TUPLE)
		return label_of_list(s, value);
	return find_array(s, value, &array) ? label_of_array(s, &array) : -ENODATA;
}

/* ---- The pair ---- */

/* The label among the other items: the first number, for a text beside one may be a name
   or a path; else the first item that can be one. */
static int judge_labels(const struct pickle_sample *s, const struct pickle_value *items[],
			unsigned count, unsigned image)
{
	const struct lmdb_sample found = *s->out;
	struct lmdb_sample taken = found;
	unsigned candidates = 0;
	bool number = false, lists = false;
	int err;

	for (unsigned i = 0; i < count; i++) {
		if (i == image || items[i]->kind == PICKLE_NONE)
			continue;
		*s->out = found;
		err = take_label(s, items[i]);
		lists |= s->out->label_list;
		if (err == -ENODATA)
			continue;
		if (err)
			return err;
		if (!number && s->out->labelled && !*s->out->text &&
		    items[i]->kind != PICKLE_LIST && items[i]->kind != PICKLE_TUPLE) {
			number = true;
			taken = *s->out;
		} else if (candidates == 0) {
			taken = *s->out;
		}
		candidates++;
	}
	*s->out = taken;
	s->out->label_chosen = candidates > 1;
	s->out->label_list = lists && candidates == 0;
	return 0;
}

/* Which items of the outer value are the image and its label. */
static int judge_items(const struct pickle_sample *s, const struct pickle_value *items[],
		       unsigned count)
{
	unsigned image = 0;

	while (image < count && !take_image(s, items[image])) {
		*s->out = (struct lmdb_sample){0};
		image++;
	}
	return image == count ? -ENODATA : judge_labels(s, items, count, image);
}

/* The items of a dict, as columns of a table have names. */
struct dict_items {
	char names[ITEMS_MOST][LMDB_NAME_MOST + 1];
	const struct pickle_value *values[ITEMS_MOST];
	struct label_column_facts facts[ITEMS_MOST];
	unsigned count;
};

static void list_dict(const struct pickle_sample *s, const struct pickle_value *dict,
		      struct dict_items *out)
{
	struct pickle_walk walk = pickle_items(s->pickle, dict);
	const struct pickle_value *key, *value;

	out->count = 0;
	while ((key = pickle_next(&walk)) && (value = pickle_next(&walk)) &&
	       out->count < ITEMS_MOST) {
		char *name = out->names[out->count];

		if (key->kind != PICKLE_STR || !key->text || key->size > LMDB_NAME_MOST)
			continue;
		snprintf(name, sizeof(out->names[0]), "%.*s", (int)key->size, key->text);
		out->values[out->count] = value;
		out->facts[out->count++] = (struct label_column_facts){
			.name = name, .can_label = value->kind != PICKLE_BYTES};
	}
}

/* The item of that name, or by the rules of columns. */
static struct label_column_choice choose_label(const struct dict_items *items,
					       const char *labels)
{
	for (unsigned i = 0; labels && i < items->count; i++)
		if (strcmp(items->names[i], labels) == 0)
			return (struct label_column_choice){(int)i, COLUMN_NONE};
	return label_column_choose(items->facts, items->count);
}

/* "image" is 0, "left_image" 1, "thumbnail" 2. */
static unsigned image_name_rank(const char *name)
{
	char others[NAME_KEY_BYTES];

	if (!name_has_image_word(name))
		return 2;
	name_key(name, others);
	return *others ? 1 : 0;
}

/* Takes the image whose name is the most usual; false: there is none. */
static bool take_dict_image(const struct pickle_sample *s, const struct dict_items *items,
			    int label)
{
	for (unsigned rank = 0; rank <= 2; rank++)
		for (unsigned i = 0; i < items->count; i++) {
			if ((int)i == label || image_name_rank(items->names[i]) != rank)
				continue;
			if (take_image(s, items->values[i]))
				return true;
			*s->out = (struct lmdb_sample){0};
		}
	return false;
}

/* A dict's items: the image, and what is called as labels are. */
static int judge_dict(const struct pickle_sample *s, const struct pickle_value *dict,
		      const char *labels)
{
	struct label_column_choice choice;
	struct dict_items items;
	int err;

	list_dict(s, dict, &items);
	choice = choose_label(&items, labels);
	if (!take_dict_image(s, &items, choice.taken))
		return -ENODATA;
	if (choice.other >= 0)
		memcpy(s->out->rival, items.names[choice.other], sizeof(s->out->rival));
	if (choice.taken < 0)
		return 0;
	memcpy(s->out->label_name, items.names[choice.taken], sizeof(s->out->label_name));
	err = take_label(s, items.values[choice.taken]);
	return err == -ENODATA ? 0 : err;
}

static int judge_root(const struct pickle_sample *s, const char *labels)
{
	const struct pickle_value *root = pickle_root(s->pickle), *items[ITEMS_MOST];
	struct pickle_walk walk = pickle_items(s->pickle, root);
	unsigned count = 0;

	if (root->kind == PICKLE_DICT)
		return judge_dict(s, root, labels);
	if (root->kind != PICKLE_TUPLE && root->kind != PICKLE_LIST)
		return take_image(s, root) ? 0 : -ENODATA;
	while (count < ITEMS_MOST && (items[count] = pickle_next(&walk)))
		count++;
	return judge_items(s, items, count);
}

static int pickle_fetch(void *context, uint64_t at, size_t n, const unsigned char **out)
{
	return value_window_get(context, at, n, out);
}

/* Classes are noted, and never looked up; calls become objects. */
static int note_class(void *context, const char *class_name)
{
	return 0;
}

int lmdb_decode_pickle(struct value_window *window, uint64_t at, uint64_t size,
		       const char *labels, struct lmdb_sample *out)
{
	static const struct pickle_policy policy = {
		.values_most = VALUES_MOST,
		.steps_most = STEPS_MOST,
		.line_most = LINE_MOST,
		.text_most = LMDB_TEXT_MOST,
		.leave_bytes = true,
		.objects = true,
		.name = note_class,
		.call = pickle_push_object,
		.build = pickle_note_state,
	};
	const struct pickle_input input = {pickle_fetch, window, at, at + size, false};
	struct pickle_sample s = {.window = window, .out = out};
	struct pickle *pickle = NULL;
	const unsigned char *head;
	int err = size < 2 ? -ENODATA : value_window_get(window, at, 2, &head);

	if (!err && head[0] != 0x80) /* protocol 2 and later; before, bytes are text */
		err = -ENODATA;
	if (!err)
		err = pickle_run(&input, &policy, "", &pickle, NULL);
	s.pickle = pickle;
	if (!err)
		err = judge_root(&s, labels);
	pickle_free(pickle);
	return err == -EBADMSG || err == -ENOTSUP ? -ENODATA : err;
}
