/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ieee.h"
#include "base/pyjson.h"
#include "base/text.h"
#include "base/utf8.h"
#include "labels/label_text.h"
#include "maps/class_text.h"
#include "maps/maps_pairs.h"
#include "maps/maps_texts.h"
#include "names/column_titles.h"

struct maps_json {
	const struct map_input *input;
	struct text texts[2];  /* of the key and of the value in hand */
	struct map_texts keys; /* of the dict: each comes once */
	struct error *e;
};

static int refuse_json(const struct map_input *input, size_t line, const char *what,
		       struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: line %zu: this JSON cannot be read: %s", input->path, line, what);
}

/* Halves of UTF-16 pairs are bytes of a file's name, as in Python. */
static int read_string(const struct map_input *input, struct text *text,
		       const struct pyjson_value *string, struct map_value *out,
		       struct error *e)
{
	ptrdiff_t n;

	if (vec_reserve(text, string->size) < 0)
		return error_no_memory(e, input->path);
	n = utf8_name(text->items, pyjson_string(string, text->items));
	if (n >= 0)
		*out = (struct map_value){ .kind = MAP_TEXT, .text = text->items,
					   .size = (size_t)n };
	return 0;
}

static int read_number(const struct map_input *input, const struct pyjson_value *number,
		       struct map_value *out, struct error *e)
{
	double real;

	if (number->kind == PYJSON_INTEGER) {
		out->kind = MAP_NUMBER;
		return map_parse_number(number->text, number->size, &out->number) ? 0 :
			refuse_json(input, map_line_of(input, number->text),
				    "too big integer", e);
	}
	if (pyjson_real(number, &real) < 0)
		return error_no_memory(e, input->path);
	if (ieee_whole(real, &out->number))
		out->kind = MAP_NUMBER;
	return 0;
}

int map_read_json(const struct map_input *input, struct text *text,
		  const struct pyjson_value *json, struct map_value *out, struct error *e)
{
	struct pyjson_walk walk = pyjson_items(json);
	struct pyjson_value first, key;
	int64_t number;
	int err = 0;

	*out = (struct map_value){ .kind = MAP_OTHER };
	if (json->kind == PYJSON_NULL)
		out->kind = MAP_NOTHING;
	if (json->kind == PYJSON_ARRAY &&
	    label_text_read(json->text, json->size, &number) == LABEL_TEXT_HOT) {
		*out = (struct map_value){ .kind = MAP_NUMBER, .number = number,
					   .in_list = true };
		return 0;
	}
	if (json->kind == PYJSON_INTEGER || json->kind == PYJSON_REAL)
		return read_number(input, json, out, e);
	if (json->kind == PYJSON_STRING)
		return read_string(input, text, json, out, e);
	if (json->kind == PYJSON_FALSE || json->kind == PYJSON_TRUE)
		*out = (struct map_value){ .kind = MAP_NUMBER,
					   .number = json->kind == PYJSON_TRUE };
	if (json->kind == PYJSON_ARRAY && pyjson_next(&walk, &key, &first) &&
	    first.kind == PYJSON_STRING) {
		err = read_string(input, text, &first, out, e);
		out->in_list = true;
	}
	return err;
}

static int read_value(struct maps_json *j, int which, const struct pyjson_value *json,
		      struct map_value *out)
{
	return map_read_json(j->input, &j->texts[which], json, out, j->e);
}

/* {"id": 1, "name": "cat"} */
static int read_class(struct maps_json *j, const struct pyjson_value *item,
		      struct map_pair *pair)
{
	struct pyjson_value value;
	int err = 0;

	pair->key = pair->value = (struct map_value){ .kind = MAP_OTHER };
	if (pyjson_find(item, "id", 2, &value) && value.kind != PYJSON_STRING)
		err = read_value(j, 0, &value, &pair->key);
	if (!err && pyjson_find(item, "name", 4, &value))
		err = read_value(j, 1, &value, &pair->value);
	return err;
}

/* Dicts in the order of the file: that is the order of the rows. */
static int visit_values(struct maps_json *j, const struct pyjson_value *list)
{
	struct map_pair pair = { .unit = "item" };
	struct pyjson_walk walk = pyjson_items(list);
	struct pyjson_value key, item;
	int err = 0;

	while (!err && pyjson_next(&walk, &key, &item)) {
		size_t before = j->keys.items.count;

		pair.order = pair.place++;
		pair.key = (struct map_value){ .kind = MAP_NOTHING };
		if (!walk.keys && item.kind == PYJSON_OBJECT)
			err = read_class(j, &item, &pair);
		else
			err = read_value(j, 1, &item, &pair.value);
		if (!err && walk.keys)
			err = read_value(j, 0, &key, &pair.key);
		if (!err)
			err = j->input->visit(j->input->context, &pair, j->e);
		if (err || !walk.keys)
			continue;
		if (map_texts_add(&j->keys, pair.key.text, pair.key.size) < 0)
			return error_no_memory(j->e, j->input->path);
		if (j->keys.items.count == before)
			err = refuse_json(j->input, map_line_of(j->input, key.text),
					  "duplicate object key", j->e);
	}
	return err;
}

/* Where the lists of classes are that programs keep beside other things; else `json`. */
static struct pyjson_value find_class_list(const struct pyjson_value *json)
{
	struct pyjson_value inner;
	const char *key;

	for (size_t i = 0; (key = title_of_class_list(i)); i++)
		if (pyjson_find(json, key, strlen(key), &inner) && inner.kind >= PYJSON_ARRAY)
			return inner;
	return *json;
}

/* -EILSEQ: it is no JSON. */
static int visit_json(struct maps_json *j)
{
	CLEANUP(pyjson_end) struct pyjson json;
	struct pyjson_fault fault;
	struct pyjson_value found;
	int err = pyjson_begin(&json, j->input->bytes, j->input->n, &fault);

	if (err == -EBADMSG) {
		refuse_json(j->input, fault.line, fault.what, j->e);
		return -EILSEQ;
	}
	if (err)
		return error_no_memory(j->e, j->input->path);
	found = j->input->classes ? find_class_list(&json.root) : json.root;
	return visit_values(j, &found);
}

int map_visit_json(const struct map_input *input, struct error *e)
{
	struct maps_json j = { .input = input, .e = e };
	struct error other = { 0 };
	const char *begin = input->bytes, *end;
	int err = visit_json(&j);

	vec_free(&j.texts[0]);
	vec_free(&j.texts[1]);
	map_texts_free(&j.keys);
	if (err != -EILSEQ)
		return err;
	/* Python's repr, and YAML in brackets */
	while (strchr(" \t\r\n", *begin))
		begin++;
	err = map_visit_flow(input, begin, &end, &other);
	while (!err && end < input->bytes + input->n && strchr(" \t\r\n;", *end))
		end++;
	if (!err && end == input->bytes + input->n)
		return 0;
	if (err == -ENOMEM || (err && !memchr(input->bytes, '"', input->n)))
		*e = other;
	return err ? err : -EBADMSG;
}
