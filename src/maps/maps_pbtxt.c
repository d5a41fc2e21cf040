/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maps_pbtxt.c: label maps of TensorFlow's object detection, protobuf's text format:
 * item { id: 1 name: 'cat' display_name: 'Cat' }. Facts: string_int_label_map.proto of
 * tensorflow/models.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "maps/class_text.h"

enum { WORD_BYTES = 256 };

struct pbtxt {
	const struct map_input *input;
	const char *at, *end;
	size_t line;
	struct error *e;
};

struct pbtxt_item {
	char id[WORD_BYTES], name[WORD_BYTES], display_name[WORD_BYTES];
	size_t line;
};

static int refuse_pbtxt(const struct pbtxt *p, size_t line, const char *what)
{
	return error_set(p->e, ERROR_DATASET, EBADMSG,
			 "%s: line %zu: %s; a label map has items { id: 1 name: 'cat' }",
			 p->input->path, line, what);
}

bool map_is_label_map(const struct map_lines *lines)
{
	static const char word[] = "item";
	const struct map_line *line = lines->items.items;
	size_t n = sizeof(word) - 1;

	if (lines->items.count == 0 || line->size < n || memcmp(line->text, word, n) != 0)
		return false;
	while (n < line->size && strchr(" \t:", line->text[n]))
		n++;
	if (n < line->size)
		return line->text[n] == '{';
	return lines->items.count > 1 && line[1].text[0] == '{';
}

static void skip_space(struct pbtxt *p)
{
	for (; p->at < p->end && strchr(" \t\r\n,;#", *p->at); p->at++) {
		if (*p->at == '#')
			while (p->at + 1 < p->end && p->at[1] != '\n')
				p->at++;
		p->line += *p->at == '\n';
	}
}

/* A word, a number or a quoted text; "{", "}" and ":" by themselves; "" at the end. */
static int maps_pbtxt_next_word(struct pbtxt *p, char out[WORD_BYTES], bool *quoted)
{
	size_t n = 0;
	char quote = '\0';

	skip_space(p);
	*quoted = p->at < p->end && (*p->at == '"' || *p->at == '\'');
	if (*quoted)
		quote = *p->at++;
	while (p->at < p->end && (quote ? *p->at != quote && *p->at != '\n'
					: !strchr(" \t\r\n,;#{}:'\"", *p->at))) {
		if (n + 1 == WORD_BYTES || (quote && *p->at == '\\'))
			return refuse_pbtxt(p, p->line,
					    "a text with an escape, or of more than "
					    "255 bytes");
		out[n++] = *p->at++;
	}
	if (quote && (p->at == p->end || *p->at++ != quote))
		return refuse_pbtxt(p, p->line, "a quote that is not closed");
	if (!quote && n == 0 && p->at < p->end)
		out[n++] = *p->at++;
	out[n] = '\0';
	return 0;
}

static bool is_mark(const char *word, bool quoted, const char *mark)
{
	return !quoted && strcmp(word, mark) == 0;
}

/* Past the bracket that closes a message within an item. */
static int skip_message(struct pbtxt *p)
{
	char word[WORD_BYTES];
	bool quoted;
	int err = 0;

	for (unsigned depth = 1; depth && !err;) {
		err = maps_pbtxt_next_word(p, word, &quoted);
		if (!err && !*word && !quoted)
			err = refuse_pbtxt(p, p->line, "a bracket that is not closed");
		depth += is_mark(word, quoted, "{");
		depth -= is_mark(word, quoted, "}");
	}
	return err;
}

static int read_field_of(struct pbtxt *p, const char *key, struct pbtxt_item *item)
{
	char value[WORD_BYTES];
	bool quoted;
	int err = maps_pbtxt_next_word(p, value, &quoted);

	if (!err && is_mark(value, quoted, ":"))
		err = maps_pbtxt_next_word(p, value, &quoted);
	if (err)
		return err;
	if (is_mark(value, quoted, "{"))
		return skip_message(p);
	if (!quoted && strchr("}:", *value))
		return refuse_pbtxt(p, p->line, "a field without a value");
	if (strcmp(key, "id") == 0)
		memcpy(item->id, value, sizeof(value));
	else if (strcmp(key, "name") == 0)
		memcpy(item->name, value, sizeof(value));
	else if (strcmp(key, "display_name") == 0)
		memcpy(item->display_name, value, sizeof(value));
	return 0;
}

static int visit_label(struct pbtxt *p, const struct pbtxt_item *item)
{
	const char *name = *item->display_name ? item->display_name : item->name;
	struct map_pair pair = {.key = {.kind = MAP_NUMBER},
				.unit = "line",
				.value = {MAP_TEXT, name, strlen(name), 0, false},
				.place = item->line};

	if (!*name || !map_parse_number(item->id, strlen(item->id), &pair.key.number))
		return refuse_pbtxt(p, item->line,
				    "an item without an id, or without a name");
	return p->input->visit(p->input->context, &pair, p->e);
}

static int read_item(struct pbtxt *p)
{
	struct pbtxt_item item = {.line = p->line};
	char word[WORD_BYTES];
	bool quoted;
	int err = maps_pbtxt_next_word(p, word, &quoted);

	if (!err && is_mark(word, quoted, ":"))
		err = maps_pbtxt_next_word(p, word, &quoted);
	if (!err && !is_mark(word, quoted, "{"))
		err = refuse_pbtxt(p, p->line, "something else than an item");
	while (!err) {
		err = maps_pbtxt_next_word(p, word, &quoted);
		if (err || is_mark(word, quoted, "}"))
			break;
		if (!*word)
			return refuse_pbtxt(p, p->line, "a bracket that is not closed");
		err = read_field_of(p, word, &item);
	}
	return err ? err : visit_label(p, &item);
}

int map_visit_label_map(const struct map_input *input, struct error *e)
{
	struct pbtxt p = {input, input->bytes, input->bytes + input->n, 1, e};
	char word[WORD_BYTES];
	bool quoted;
	int err = 0;

	while (!err) {
		err = maps_pbtxt_next_word(&p, word, &quoted);
		if (err || (!*word && !quoted))
			break;
		if (strcmp(word, "item") != 0)
			return refuse_pbtxt(&p, p.line, "something else than an item");
		err = read_item(&p);
	}
	return err;
}
