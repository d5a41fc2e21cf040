/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "config.h"
#include "labels/label_text.h"
#include "maps/class_text.h"
#include "maps/maps_pairs.h"
#include "names/column_titles.h"

#if WITH_JANSSON
#include <jansson.h>

/* A map is a dict of texts and numbers, a list of classes at most a dict of lists, or that
   of a dict of others: {"id2label": {...}}. */
enum { DEPTH_MOST = 2, LISTS_MOST = 1000000 };

/*
 * Lists in lists, and empty ones by the million, take much memory for few bytes: looks
 * for them before the library makes anything of them. NULL: there are none.
 */
static const char *find_bomb(const struct map_input *input)
{
	unsigned depth = 0, lists = 0;
	bool in_text = false;

	for (size_t i = 0; i < input->n; i++) {
		char c = input->bytes[i];

		if (c == '"')
			in_text = !in_text;
		else if (in_text)
			i += c == '\\';
		else if (c == '[' || c == '{')
			depth++, lists++;
		else if ((c == ']' || c == '}') && depth > 0)
			depth--;
		if (depth > DEPTH_MOST + (unsigned)input->classes)
			return "it nests deeper than a dict of lists";
		if (lists > LISTS_MOST)
			return "it has more than a million lists";
	}
	return NULL;
}

/* [0, 1, 0]; false: it is not one-hot. */
static bool read_hot(const json_t *list, int64_t *label)
{
	struct one_hot row = { 0 };
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		one_hot_add(&row, json_is_integer(item), json_integer_value(item));
	*label = row.label;
	return one_hot_is(&row);
}

static struct map_value of_json(const json_t *json)
{
	const json_t *first = json_array_get(json, 0);
	int64_t number;

	if (json_is_null(json))
		return (struct map_value){ .kind = MAP_NOTHING };
	if (read_hot(json, &number))
		return (struct map_value){ .kind = MAP_NUMBER, .number = number,
					   .in_list = true };
	if (json_is_integer(json))
		return (struct map_value){ .kind = MAP_NUMBER,
					   .number = json_integer_value(json) };
	if (json_is_real(json) && map_whole_number(json_real_value(json), &number))
		return (struct map_value){ .kind = MAP_NUMBER, .number = number };
	if (json_is_boolean(json))
		return (struct map_value){ .kind = MAP_NUMBER,
					   .number = json_is_true(json) };
	if (json_is_string(json))
		first = json;
	if (json_is_string(first))
		return (struct map_value){ .kind = MAP_TEXT, .in_list = first != json,
					   .text = json_string_value(first),
					   .size = json_string_length(first) };
	return (struct map_value){ .kind = MAP_OTHER };
}

static int visit_list(const struct map_input *input, const json_t *list, struct error *e)
{
	struct map_pair pair = { .unit = "item" };
	int err = 0;

	for (size_t i = 0; i < json_array_size(list) && !err; i++) {
		const json_t *item = json_array_get(list, i);

		pair.order = pair.place++;
		pair.key = of_json(json_object_get(item, "id"));
		pair.value = of_json(json_is_object(item) ? json_object_get(item, "name") : item);
		if (pair.key.kind != MAP_NUMBER)
			pair.key.kind = json_is_object(item) ? MAP_OTHER : MAP_NOTHING;
		err = input->visit(input->context, &pair, e);
	}
	return err;
}

/* In the order of the file: that is the order of the rows. */
static int visit_dict(const struct map_input *input, json_t *dict, struct error *e)
{
	struct map_pair pair = { .key = { .kind = MAP_TEXT }, .unit = "item" };
	void *at = json_object_iter(dict);
	int err = 0;

	for (; at && !err; at = json_object_iter_next(dict, at)) {
		pair.place++;
		pair.key.text = json_object_iter_key(at);
		pair.key.size = strlen(pair.key.text);
		pair.value = of_json(json_object_iter_value(at));
		err = input->visit(input->context, &pair, e);
	}
	return err;
}

/* Where the lists of classes are that programs keep beside other things; else `json`. */
static json_t *maps_json_find_classes(json_t *json)
{
	const char *key;

	for (size_t i = 0; (key = title_of_class_list(i)); i++) {
		json_t *inner = json_object_get(json, key);

		if (json_is_object(inner) || json_is_array(inner))
			return inner;
	}
	return json;
}

static int refuse_json(const struct map_input *input, const json_error_t *why,
		       struct error *e)
{
	if (json_error_code(why) == json_error_out_of_memory)
		return error_no_memory(e, input->path);
	error_set(e, ERROR_DATASET, EBADMSG, "%s: line %d: this JSON cannot be read: %s",
		  input->path, why->line, why->text);
	return json_error_code(why) == json_error_invalid_syntax ? -EILSEQ : -EBADMSG;
}

static int visit_json(const struct map_input *input, struct error *e)
{
	json_error_t why;
	json_t *json, *found;
	const char *bomb = find_bomb(input);
	int err;

	if (bomb)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: this JSON is neither a map "
				 "of names nor a list of classes: %s",
				 input->path, bomb);
	json = json_loadb(input->bytes, input->n, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		return refuse_json(input, &why, e);
	found = input->classes ? maps_json_find_classes(json) : json;
	if (json_is_array(found))
		err = visit_list(input, found, e);
	else
		err = visit_dict(input, found, e);
	json_decref(json);
	return err;
}

int map_visit_json(const struct map_input *input, struct error *e)
{
	int err = visit_json(input, e);
	struct error other = { 0 };
	const char *begin = input->bytes, *end;

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
#else

int map_visit_json(const struct map_input *input, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: JSON cannot be read: this granaryfs was built without %s",
			 input->path, NEEDS_JANSSON);
}

#endif /* WITH_JANSSON */
