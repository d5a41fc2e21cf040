/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/maps_lines.h"

#include <errno.h>
#include <string.h>

static bool maps_lines_is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

void map_trim(const char **text, size_t *size)
{
	while (*size && maps_lines_is_blank((*text)[*size - 1]))
		--*size;
	for (; *size && maps_lines_is_blank(**text); ++*text)
		--*size;
}

/* A line of a list of classes; a comment is one of many kinds of files, or nobody's. */
static int maps_lines_add_line(struct map_lines *lines, const struct map_input *input,
			       struct map_line *line, struct error *e)
{
	const char *text = line->text;

	if (line->size > 1 && *text == '#' &&
	    (maps_lines_is_blank(text[1]) || !lines->items.count)) {
		lines->comments++;
		return 0;
	}
	if (*text == '#' || (!lines->items.count && line->size > 2 &&
			     (memcmp(text, "//", 2) == 0 || memcmp(text, "% ", 2) == 0 ||
			      memcmp(text, "; ", 2) == 0)))
		return map_refuse_line(
			input, line->place,
			"it reads like a comment; remove it, or write the names as "
			"a JSON list, [\"a\", \"b\"]",
			e);
	if (!lines->blank)
		lines->blank = lines->last_blank;
	if (vec_push(&lines->items, *line) < 0)
		return error_no_memory(e, input->path);
	return 0;
}

int map_lines_read(const struct map_input *input, struct map_lines *lines,
		   struct error *e)
{
	const char *at = input->bytes, *end = at + input->n;
	size_t place = 0;
	int err = 0;

	*lines = (struct map_lines){.items = VEC_INIT};
	while (at < end && !err) {
		struct map_line line = {.raw = at, .text = at, .place = ++place};

		while (at < end && *at != '\n' && *at != '\r')
			at++;
		line.size = (size_t)(at - line.text);
		if (at < end && *at++ == '\r' && at < end && *at == '\n')
			at++;
		map_trim(&line.text, &line.size);
		line.indent = (size_t)(line.text - line.raw);
		if (line.size)
			err = maps_lines_add_line(lines, input, &line, e);
		else if (!lines->last_blank && (lines->items.count || !lines->comments))
			lines->last_blank = place;
	}
	return err;
}

void map_lines_free(struct map_lines *lines)
{
	vec_free(&lines->items);
	arena_free(&lines->arena);
}

int map_unquote(struct map_lines *lines, const char **text, size_t *size)
{
	char quote = *size > 1 ? **text : '\0', *copy;
	size_t n = 0;

	if ((quote != '"' && quote != '\'') || (*text)[*size - 1] != quote)
		return 0;
	copy = arena_alloc(&lines->arena, *size);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 1; i + 1 < *size; i++) {
		if ((*text)[i] == quote && (i + 2 == *size || (*text)[++i] != quote))
			return 0; /* "a" and "b": no quotes around all of it */
		copy[n++] = (*text)[i];
	}
	*text = copy;
	*size = n;
	return 0;
}
