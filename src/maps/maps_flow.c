/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maps_flow.c: lists and dicts in brackets, as YAML and Python write them: ['a', b],
 * {0: 'a', 1: "b"}. Nothing nests but lists in a list or a dict, whose first item counts.
 */
#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "maps/class_text.h"

struct flow {
	const struct map_input *input;
	const char *at, *end;
	VEC(char) texts[3]; /* of the key, of the value, of what does not count */
	struct error *e;
};

static int refuse_flow(struct flow *f, const char *what)
{
	return error_set(
		f->e, ERROR_DATASET, EBADMSG,
		"%s: line %zu: %s; a list of classes is ['a', 'b'] or {0: 'a', 1: 'b'}",
		f->input->path, map_line_of(f->input, f->at), what);
}

static void skip_blank(struct flow *f)
{
	while (f->at < f->end && strchr(" \t\r\n#", *f->at)) {
		if (*f->at == '#')
			while (f->at < f->end && *f->at != '\n')
				f->at++;
		else
			f->at++;
	}
}

static int flow_store(struct flow *f, int which, char byte)
{
	if (vec_push(&f->texts[which], byte) == 0)
		return 0;
	return error_no_memory(f->e, f->input->path);
}

/* Behind a backslash: what Python and YAML have in common. */
static int maps_flow_read_escape(struct flow *f, int which)
{
	static const char from[] = "ntr\\'\"/", to[] = "\n\t\r\\'\"/";
	const char *known;
	unsigned digits;
	uint32_t character;
	char text[UTF8_MOST];
	int err = 0;

	if (f->at == f->end)
		return refuse_flow(f, "a quote that is not closed");
	known = strchr(from, *f->at);
	digits = *f->at == 'x' ? 2 : *f->at == 'u' ? 4 : *f->at == 'U' ? 8 : 0;
	f->at++;
	if (known)
		return flow_store(f, which, to[known - from]);
	if (!digits || !utf8_hex(f->at, (size_t)(f->end - f->at), digits, &character) ||
	    character > 0x10ffff || character == 0 || utf8_is_surrogate(character))
		return refuse_flow(f, "an escape that is not known");
	f->at += digits;
	for (unsigned i = 0, n = utf8_encode(text, character); i < n && !err; i++)
		err = flow_store(f, which, text[i]);
	return err;
}

/* 'don''t' is YAML's, and 'don\'t' Python's. */
static int read_quotes(struct flow *f, int which)
{
	char quote = *f->at++;
	int err = 0;

	while (!err && f->at < f->end) {
		char byte = *f->at++;

		if (byte == '\\') {
			err = maps_flow_read_escape(f, which);
		} else if (byte != quote) {
			err = flow_store(f, which, byte);
		} else if (f->at < f->end && *f->at == quote) {
			err = flow_store(f, which, *f->at++);
		} else {
			return 0;
		}
	}
	return err ? err : refuse_flow(f, "a quote that is not closed");
}

/* A word without quotes ends at a comma, a bracket, or the colon of a key. */
static int read_bare(struct flow *f, int which)
{
	int err = 0;

	while (!err && f->at < f->end && !strchr(",[]{}()\r\n", *f->at) &&
	       !(*f->at == ':' && (f->at + 1 == f->end || strchr(" \t\r\n", f->at[1]))) &&
	       !(*f->at == '#' && strchr(" \t", f->at[-1])))
		err = flow_store(f, which, *f->at++);
	while (f->texts[which].count &&
	       strchr(" \t", f->texts[which].items[f->texts[which].count - 1]))
		f->texts[which].count--;
	return err;
}

static int read_scalar(struct flow *f, int which, struct map_value *out)
{
	bool quoted = f->at < f->end && (*f->at == '"' || *f->at == '\'');
	int err;

	f->texts[which].count = 0;
	err = quoted ? read_quotes(f, which) : read_bare(f, which);
	if (!err && !quoted && f->texts[which].count == 0)
		err = refuse_flow(
			f, "a name is missing, or nests deeper than a list in a list");
	if (err)
		return err;
	*out = (struct map_value){.kind = MAP_TEXT,
				  .text = f->texts[which].items,
				  .size = f->texts[which].count};
	if (!out->text)
		out->text = "";
	if (!quoted && map_parse_number(out->text, out->size, &out->number))
		out->kind = MAP_NUMBER;
	return 0;
}

/* ["n01440764", "tench"]: the first of a list within. */
static int read_inner(struct flow *f, struct map_value *out)
{
	char close = *f->at == '[' ? ']' : ')';
	struct map_value other;
	bool first = true;
	int err = 0;

	f->at++;
	for (skip_blank(f); !err && f->at < f->end && *f->at != close; skip_blank(f)) {
		err = read_scalar(f, first ? 1 : 2, first ? out : &other);
		first = false;
		skip_blank(f);
		if (!err && f->at < f->end && *f->at == ',')
			f->at++;
	}
	if (err)
		return err;
	if (first || f->at == f->end)
		return refuse_flow(f, "a list in a list that is empty, or is not closed");
	f->at++;
	out->in_list = true;
	out->kind = MAP_TEXT;
	return 0;
}

static int maps_flow_read_value(struct flow *f, struct map_value *out)
{
	skip_blank(f);
	if (f->at < f->end && (*f->at == '[' || *f->at == '('))
		return read_inner(f, out);
	return read_scalar(f, 1, out);
}

static int visit_item(struct flow *f, struct map_pair *pair, bool dict)
{
	int err;

	pair->place++;
	pair->key = (struct map_value){.kind = MAP_NOTHING};
	if (!dict) {
		err = maps_flow_read_value(f, &pair->value);
		pair->value.kind = MAP_TEXT; /* of a list, numbers are names */
		return err ? err : f->input->visit(f->input->context, pair, f->e);
	}
	err = read_scalar(f, 0, &pair->key);
	skip_blank(f);
	if (!err && (f->at == f->end || *f->at++ != ':'))
		err = refuse_flow(f, "a key without a value");
	if (!err)
		err = maps_flow_read_value(f, &pair->value);
	if (err)
		return err;
	/* a number of a number is called so */
	if (pair->key.kind == MAP_NUMBER && pair->value.kind == MAP_NUMBER)
		pair->value.kind = MAP_TEXT;
	if (pair->value.in_list && pair->key.kind == MAP_TEXT)
		return refuse_flow(f, "a list as the label of a name");
	return f->input->visit(f->input->context, pair, f->e);
}

static int visit_items_of_flow(struct flow *f)
{
	char open = *f->at++, close = open == '{' ? '}' : open == '[' ? ']' : ')';
	struct map_pair pair = {.unit = "item"};
	bool comma = true;
	int err = 0;

	for (skip_blank(f); !err && f->at < f->end && *f->at != close; skip_blank(f)) {
		if (!comma)
			return refuse_flow(f, "a comma is missing between two items");
		pair.order = pair.place;
		err = visit_item(f, &pair, open == '{');
		skip_blank(f);
		comma = f->at < f->end && *f->at == ',';
		f->at += comma;
	}
	if (!err && f->at == f->end)
		err = refuse_flow(f, "a bracket that is not closed");
	f->at++;
	return err;
}

int map_visit_flow(const struct map_input *input, const char *at, const char **end,
		   struct error *e)
{
	struct flow f = {
		.input = input, .at = at, .end = input->bytes + input->n, .e = e};
	int err = visit_items_of_flow(&f);

	*end = f.at;
	for (size_t i = 0; i < sizeof(f.texts) / sizeof(*f.texts); i++)
		vec_free(&f.texts[i]);
	return err;
}
