/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "config.h"
#include "maps/maps_pairs.h"

#if WITH_JANSSON
#include <jansson.h>

/* A map is a dict of texts and numbers, a list of classes at most a dict of lists. */
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
		if (depth > DEPTH_MOST)
			return "it nests deeper than a dict of lists";
		if (lists > LISTS_MOST)
			return "it has more than a million lists";
	}
	return NULL;
}

static struct map_value of_json(const json_t *json)
{
	const json_t *first = json_array_get(json, 0);

	if (json_is_integer(json))
		return (struct map_value){ .kind = MAP_NUMBER,
					   .number = json_integer_value(json) };
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
		pair.place = i + 1;
		pair.value = of_json(json_array_get(list, i));
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

int map_visit_json(const struct map_input *input, struct error *e)
{
	struct map_input text = *input;
	json_error_t why;
	json_t *json;
	const char *bomb;
	int err = map_begin_text(&text, e);

	if (err)
		return err;
	bomb = find_bomb(&text);
	if (bomb)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: this JSON is neither a map "
				 "of names nor a list of classes: %s",
				 input->path, bomb);
	json = json_loadb(text.bytes, text.n, JSON_REJECT_DUPLICATES, &why);
	if (!json && json_error_code(&why) == json_error_out_of_memory)
		return error_no_memory(e, input->path);
	if (!json)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: line %d: this JSON cannot be "
				 "read: %s",
				 input->path, why.line, why.text);
	if (json_is_array(json))
		err = visit_list(input, json, e);
	else
		err = visit_dict(input, json, e);
	json_decref(json);
	return err;
}

#else

int map_visit_json(const struct map_input *input, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: JSON cannot be read: this granaryfs was built without %s",
			 input->path, NEEDS_JANSSON);
}

#endif /* WITH_JANSSON */
