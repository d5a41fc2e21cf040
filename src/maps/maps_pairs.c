/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/maps_pairs.h"

#include <errno.h>
#include <string.h>

#include "base/ieee.h"
#include "labels/label_text.h"
#include "base/pickle.h"

static struct map_value of_pickle(const struct pickle *pickle,
				  const struct pickle_value *value)
{
	struct pickle_walk walk = pickle_items(pickle, value);
	const struct pickle_value *first = pickle_next(&walk);
	int64_t number;

	if (value->kind == PICKLE_NONE || (value->kind == PICKLE_FLOAT && value->real != value->real))
		return (struct map_value){ .kind = MAP_NOTHING };
	if (value->kind == PICKLE_INT || value->kind == PICKLE_BOOL)
		return (struct map_value){ .kind = MAP_NUMBER, .number = value->number };
	if (value->kind == PICKLE_FLOAT && ieee_whole(value->real, &number))
		return (struct map_value){ .kind = MAP_NUMBER, .number = number };
	if (value->kind == PICKLE_STR || value->kind == PICKLE_BYTES)
		return (struct map_value){ .kind = MAP_TEXT, .text = value->text,
					   .size = value->size };
	if (value->kind != PICKLE_DICT && first && first->kind == PICKLE_STR)
		return (struct map_value){ .kind = MAP_TEXT, .text = first->text,
					   .size = first->size, .in_list = true };
	return (struct map_value){ .kind = MAP_OTHER };
}

static int maps_pairs_visit_items(const struct map_input *input,
				  const struct pickle *pickle, struct error *e)
{
	const struct pickle_value *root = pickle_root(pickle), *item;
	struct pickle_walk walk = pickle_items(pickle, root);
	struct map_pair pair = { .unit = "item" };
	int err = 0;

	while (!err && (item = pickle_next(&walk))) {
		pair.order = pair.place++;
		if (root->kind == PICKLE_DICT) {
			pair.key = of_pickle(pickle, item);
			item = pickle_next(&walk);
		}
		pair.value = of_pickle(pickle, item);
		err = input->visit(input->context, &pair, e);
	}
	return err;
}

int map_visit_pickle(const struct map_input *input, struct error *e)
{
	struct pickle *pickle;
	int err = pickle_read(input->bytes, input->n, input->path, &pickle, e);

	if (err)
		return err;
	if (pickle_root(pickle)->kind >= PICKLE_TUPLE)
		err = maps_pairs_visit_items(input, pickle, e);
	else
		err = error_set(e, ERROR_DATASET, EBADMSG,
				"%s: the pickle is neither a dict "
				"nor a list",
				input->path);
	pickle_free(pickle);
	return err;
}

bool map_is_json(const struct map_input *input)
{
	size_t i = 0;

	while (i < input->n && strchr(" \t\r\n", input->bytes[i]) && input->bytes[i])
		i++;
	/* a tuple of Python, too: ('cat', 'dog') */
	if (input->classes && i + 1 < input->n && input->bytes[i] == '(')
		return input->bytes[i + 1] == '\'' || input->bytes[i + 1] == '"';
	return i < input->n && (input->bytes[i] == '{' || input->bytes[i] == '[');
}

int map_refuse_line(const struct map_input *input, size_t line, const char *what,
		    struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG, "%s: line %zu: %s", input->path, line,
			 what);
}

size_t map_line_of(const struct map_input *input, const char *at)
{
	size_t line = 1;

	for (const char *c = input->bytes; c < at; c++)
		line += *c == '\n';
	return line;
}

bool map_parse_number(const char *text, size_t size, int64_t *out)
{
	return label_text_read(text, size, out) == LABEL_TEXT_NUMBER;
}
