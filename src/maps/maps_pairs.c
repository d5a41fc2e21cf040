/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/maps_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "maps/pickle.h"

static struct map_value of_pickle(const struct pickle *pickle,
				  const struct pickle_value *value)
{
	struct pickle_walk walk = pickle_items(pickle, value);
	const struct pickle_value *first = pickle_next(&walk);

	if (value->kind == PICKLE_INT)
		return (struct map_value){ .kind = MAP_NUMBER, .number = value->number };
	if (value->kind == PICKLE_STR || value->kind == PICKLE_BYTES)
		return (struct map_value){ .kind = MAP_TEXT, .text = value->text,
					   .size = value->size };
	if (value->kind != PICKLE_DICT && first && first->kind == PICKLE_STR)
		return (struct map_value){ .kind = MAP_TEXT, .text = first->text,
					   .size = first->size, .in_list = true };
	return (struct map_value){ .kind = MAP_OTHER };
}

static int visit_items(const struct map_input *input, const struct pickle *pickle,
		       struct error *e)
{
	const struct pickle_value *root = pickle_root(pickle), *item;
	struct pickle_walk walk = pickle_items(pickle, root);
	struct map_pair pair = { .unit = "item" };
	int err = 0;

	while (!err && (item = pickle_next(&walk))) {
		pair.place++;
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
		err = visit_items(input, pickle, e);
	else
		err = error_set(e, ERROR_DATASET, EBADMSG,
				"%s: the pickle is neither a dict "
				"nor a list",
				input->path);
	pickle_free(pickle);
	return err;
}

int map_begin_text(struct map_input *input, struct error *e)
{
	const char *nul = memchr(input->bytes, '\0', input->n);

	if (nul)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: it is neither a pickle nor "
				 "JSON nor text: byte %zu is 0",
				 input->path, (size_t)(nul - input->bytes));
	if (input->n >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0) {
		input->bytes += 3;
		input->n -= 3;
	}
	return 0;
}

bool map_is_json(const struct map_input *input)
{
	size_t i = input->n >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (i < input->n && strchr(" \t\r\n", input->bytes[i]) && input->bytes[i])
		i++;
	return i < input->n && (input->bytes[i] == '{' || input->bytes[i] == '[');
}

static bool is_blank(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	return true;
}

int map_visit_lines(const struct map_input *input, struct error *e)
{
	const char *at = input->bytes, *end = input->bytes + input->n;
	struct map_pair pair = { .unit = "line" };
	size_t blank = 0;
	int err = 0;

	while (at < end && !err) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline ? newline : end) - at);

		pair.place++;
		pair.value = (struct map_value){ .kind = MAP_TEXT, .text = at,
						 .size = size };
		if (size && at[size - 1] == '\r')
			pair.value.size--;
		if (is_blank(at, size))
			blank = blank ? blank : pair.place;
		else if (blank)
			err = error_set(e, ERROR_DATASET, EBADMSG,
					"%s: line %zu is empty, "
					"and other lines follow: each line is a class; "
					"remove it",
					input->path, blank);
		else
			err = input->visit(input->context, &pair, e);
		at = newline ? newline + 1 : end;
	}
	return err;
}

bool map_parse_number(const char *text, size_t size, int64_t *out)
{
	char digits[24], *end;

	if (size == 0 || size >= sizeof(digits))
		return false;
	for (size_t i = 0; i < size; i++)
		if ((text[i] < '0' || text[i] > '9') && (i || text[i] != '-'))
			return false;
	memcpy(digits, text, size);
	digits[size] = '\0';
	errno = 0;
	*out = strtoll(digits, &end, 10);
	return !errno && end != digits && !*end;
}
