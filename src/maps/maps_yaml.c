/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maps_yaml.c: the classes in data.yaml of YOLO and its like: what is below `names:`, as
 * a list or a mapping, in lines or in brackets. No other YAML is read. CLASSES = [...] of
 * a Python script is the same.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "maps/class_text.h"
#include "names/column_titles.h"

struct yaml {
	const struct map_input *input;
	struct map_lines *lines;
	size_t names;  /* the line of the key */
	size_t indent; /* of the first item */
	size_t items;
	struct error *e;
};

static int refuse_yaml(const struct yaml *yaml, size_t i, const char *what)
{
	return error_set(
		yaml->e, ERROR_DATASET, EBADMSG,
		"%s: line %zu: %s; below names: are lines '- NAME', or 'NUMBER: NAME'",
		yaml->input->path, yaml->lines->items.items[i].place, what);
}

/* The text behind "KEY:" or "KEY =" in a line that begins so; or NULL. */
static const char *text_after_key(const struct map_line *line, const char *key)
{
	size_t n = strlen(key), sign = n;

	if (line->indent || line->size < n + 1 || strncasecmp(line->text, key, n) != 0)
		return NULL;
	while (sign < line->size && strchr(" \t", line->text[sign]))
		sign++;
	if (sign < line->size && line->text[sign] == '=')
		return line->text + sign + 1;
	if (line->text[n] != ':' ||
	    (line->size > n + 1 && !strchr(" \t", line->text[n + 1])))
		return NULL;
	return line->text + n + 1;
}

/* The line with the key, or the number of lines. */
static size_t find_names(const struct map_lines *lines)
{
	const char *key;

	for (size_t k = 0; (key = title_of_class_list(k)); k++)
		for (size_t i = 0; i < lines->items.count; i++)
			if (text_after_key(&lines->items.items[i], key))
				return i;
	return lines->items.count;
}

static bool is_empty(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at == end || *at == '#';
}

static const char *value_of_key(const struct map_line *line)
{
	const char *at = line->text, *key;

	for (size_t k = 0; (key = title_of_class_list(k)); k++)
		if (text_after_key(line, key))
			at = text_after_key(line, key);
	while (at < line->text + line->size && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

bool map_is_yaml_classes(const struct map_lines *lines)
{
	size_t i = find_names(lines);
	const struct map_line *line;
	const char *at;

	if (i == lines->items.count)
		return false;
	line = &lines->items.items[i];
	at = value_of_key(line);
	if (at == line->text + line->size)
		return at[-1] != '=';
	return is_empty(at, line->text + line->size) || strchr("[{(", *at);
}

/* Without a comment behind it, and without quotes. */
static int clean_value(struct yaml *yaml, const char **text, size_t *size, bool *quoted)
{
	const char *end = *text + *size, *at = *text;

	map_trim(&at, size);
	*text = at;
	*quoted = *size && (*at == '"' || *at == '\'');
	for (at += *quoted; *quoted && at < end && *at != **text; at++)
		;
	for (; at + 1 < end; at++)
		if ((*at == ' ' || *at == '\t') && at[1] == '#')
			*size = (size_t)(at - *text);
	map_trim(text, size);
	return map_unquote(yaml->lines, text, size);
}

/* Where ": " parts a key from its value; NULL: nowhere. */
static const char *find_colon(const char *text, size_t size)
{
	char quote = size && (*text == '"' || *text == '\'') ? *text : '\0';

	for (size_t i = quote != 0; i < size; i++) {
		if (quote && text[i] == quote)
			quote = '\0';
		else if (!quote && text[i] == ':' &&
			 (i + 1 == size || strchr(" \t", text[i + 1])))
			return text + i;
	}
	return NULL;
}

/* "- NAME" */
static int visit_element(struct yaml *yaml, size_t i, struct map_pair *pair)
{
	const struct map_line *line = &yaml->lines->items.items[i];
	bool quoted;

	pair->value.text = line->text + 1;
	pair->value.size = line->size - 1;
	if (clean_value(yaml, &pair->value.text, &pair->value.size, &quoted) < 0)
		return error_no_memory(yaml->e, yaml->input->path);
	if (!quoted && find_colon(pair->value.text, pair->value.size))
		return refuse_yaml(yaml, i, "a mapping in the list of names");
	pair->order = yaml->items++;
	return yaml->input->visit(yaml->input->context, pair, yaml->e);
}

/* "0: NAME", or "NAME: 0" */
static int visit_mapping(struct yaml *yaml, size_t i, struct map_pair *pair)
{
	const struct map_line *line = &yaml->lines->items.items[i];
	const char *colon = find_colon(line->text, line->size);
	struct map_value *key = &pair->key, *value = &pair->value;
	bool quoted, quoted_key;

	if (!colon)
		return refuse_yaml(yaml, i,
				   "neither an item of a list nor one of a mapping");
	key->kind = MAP_TEXT;
	key->text = line->text;
	key->size = (size_t)(colon - line->text);
	value->text = colon + 1;
	value->size = (size_t)(line->text + line->size - value->text);
	if (clean_value(yaml, &key->text, &key->size, &quoted_key) < 0 ||
	    clean_value(yaml, &value->text, &value->size, &quoted) < 0)
		return error_no_memory(yaml->e, yaml->input->path);
	if (value->size == 0 && !quoted)
		return refuse_yaml(yaml, i, "a number without a name");
	if (!map_parse_number(key->text, key->size, &key->number) && !quoted &&
	    map_parse_number(value->text, value->size, &value->number))
		value->kind = MAP_NUMBER;
	yaml->items++;
	return yaml->input->visit(yaml->input->context, pair, yaml->e);
}

/* The lines below the key, as far as another key. */
static int visit_block(struct yaml *yaml)
{
	const struct map_line *items = yaml->lines->items.items;
	int err = 0;

	for (size_t i = yaml->names + 1; i < yaml->lines->items.count && !err; i++) {
		struct map_pair pair = {.unit = "line",
					.place = items[i].place,
					.value = {.kind = MAP_TEXT}};
		bool element = items[i].text[0] == '-' &&
			       (items[i].size == 1 || strchr(" \t", items[i].text[1]));

		if (items[i].indent == 0 && !element)
			break;
		if (yaml->items == 0)
			yaml->indent = items[i].indent;
		if (items[i].indent != yaml->indent)
			return refuse_yaml(
				yaml, i, "it is indented otherwise than the first name");
		err = element ? visit_element(yaml, i, &pair)
			      : visit_mapping(yaml, i, &pair);
	}
	if (!err && yaml->items == 0)
		err = refuse_yaml(yaml, yaml->names, "no names are there");
	return err;
}

/* Counts what goes through. */
static int count_and_visit(void *context, const struct map_pair *pair, struct error *e)
{
	struct yaml *yaml = context;

	yaml->items++;
	return yaml->input->visit(yaml->input->context, pair, e);
}

static int visit_brackets(struct yaml *yaml, const char *at)
{
	struct map_input counted = *yaml->input;
	const char *end, *stop;
	int err;

	counted.visit = count_and_visit;
	counted.context = yaml;
	err = map_visit_flow(&counted, at, &end, yaml->e);
	if (err)
		return err;
	stop = yaml->input->bytes + yaml->input->n;
	for (at = end; at < stop && *at != '\n' && *at != '\r';)
		at++;
	if (!is_empty(end, at))
		return refuse_yaml(yaml, yaml->names,
				   "something follows the names' brackets");
	return 0;
}

/* `nc: 80` says how many there are. */
static int check_nc(struct yaml *yaml)
{
	for (size_t i = 0; i < yaml->lines->items.count; i++) {
		const struct map_line *line = &yaml->lines->items.items[i];
		const char *at = text_after_key(line, "nc");
		size_t size = at ? (size_t)(line->text + line->size - at) : 0;
		int64_t nc;
		bool quoted;

		if (!at || clean_value(yaml, &at, &size, &quoted) < 0 ||
		    !map_parse_number(at, size, &nc) || nc == (int64_t)yaml->items)
			continue;
		return error_set(
			yaml->e, ERROR_DATASET, EBADMSG,
			"%s: line %zu: nc is %.*s, and there are %zu names; correct one "
			"of the two",
			yaml->input->path, line->place, (int)size, at, yaml->items);
	}
	return 0;
}

int map_visit_yaml_classes(const struct map_input *input, struct map_lines *lines,
			   struct error *e)
{
	struct yaml yaml = {
		.input = input, .lines = lines, .names = find_names(lines), .e = e};
	const struct map_line *line = &lines->items.items[yaml.names];
	const char *at = value_of_key(line);
	int err;

	if (is_empty(at, line->text + line->size))
		err = visit_block(&yaml);
	else
		err = visit_brackets(&yaml, at);
	return err ? err : check_nc(&yaml);
}
