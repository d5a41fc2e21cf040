/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON objects, one a row: JSON lines, as in the metadata.jsonl of Hugging Face's datasets,
 * or a list, as pandas writes it (orient="records"). The keys of the first are the titles.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pyjson.h"
#include "base/text.h"
#include "base/vec.h"
#include "maps/maps_columns.h"
#include "names/column_titles.h"

struct maps_records {
	const struct map_input *input;
	struct map_pair pair;
	bool begun;
	struct map_value titles[2]; /* of the key and of the value */
	struct text texts[2];
	struct error *e;
};

static int records_refuse(const struct maps_records *r, const char *what)
{
	return error_set(r->e, ERROR_DATASET, EBADMSG, "%s: %s %zu: %s", r->input->path,
			 r->pair.unit, r->pair.place, what);
}

static size_t line_end(const struct map_input *input, size_t from)
{
	const char *end = memchr(input->bytes + from, '\n', input->n - from);

	return end ? (size_t)(end - input->bytes) : input->n;
}

static size_t skip_blanks(const struct map_input *input, size_t at, size_t end)
{
	while (at < end && strchr(" \t\r\n", input->bytes[at]))
		at++;
	return at;
}

/* Titles have no escapes; those that have some are none. */
static struct map_value title_of(const struct pyjson_value *key)
{
	return (struct map_value){ .kind = MAP_TEXT, .text = key->text + 1,
				   .size = key->size - 2 };
}

static bool has_titles(const struct map_input *input, const struct pyjson_value *object)
{
	struct pyjson_walk walk = pyjson_items(object);
	struct pyjson_value key, item;
	bool file = false, label = false;

	while (walk.keys && pyjson_next(&walk, &key, &item)) {
		file |= title_rank(TITLE_FILE, key.text + 1, key.size - 2) >= 0;
		label |= title_rank(TITLE_LABEL, key.text + 1, key.size - 2) >= 0 ||
			 (input->labels && pyjson_equals(&key, input->labels, strlen(input->labels)));
	}
	return file && label;
}

bool map_are_records(const struct map_input *input)
{
	CLEANUP(pyjson_end) struct pyjson json = { .copy = NULL };
	size_t n = input->n, at = skip_blanks(input, 0, n), end;
	struct pyjson_fault fault;

	if (at < n && input->bytes[at] == '[' && !input->classes) {
		at = skip_blanks(input, at + 1, n);
		return at < n && input->bytes[at] == '{';
	}
	if (at == n || input->bytes[at] != '{')
		return false;
	end = line_end(input, at);
	if (pyjson_begin(&json, input->bytes + at, end - at, &fault) < 0)
		return false;
	return skip_blanks(input, end, n) < n || has_titles(input, &json.root);
}

/* Fractions, and NaN, are what their texts say. */
static int records_read(struct maps_records *r, int which, const struct pyjson_value *object,
			struct map_value *out)
{
	const struct map_value *title = &r->titles[which];
	struct pyjson_value value;
	int err;

	*out = (struct map_value){ .kind = MAP_NOTHING };
	if (!pyjson_find(object, title->text, title->size, &value))
		return 0;
	err = map_read_json(r->input, &r->texts[which], &value, out, r->e);
	if (out->in_list && out->kind == MAP_TEXT)
		out->kind = MAP_OTHER;
	if (!err && value.kind == PYJSON_REAL && out->kind == MAP_OTHER)
		*out = (struct map_value){ .kind = MAP_TEXT, .text = value.text,
					   .size = value.size };
	return err;
}

/* The item with the most usual title in this role, whose value is a text, or is none. */
static struct map_value find_class_title(const struct pyjson_value *object,
					 enum title_role role, bool text)
{
	struct pyjson_walk walk = pyjson_items(object);
	struct map_value found = { .kind = MAP_NOTHING, .text = "" };
	struct pyjson_value key, item;
	int best = -1;

	while (walk.keys && pyjson_next(&walk, &key, &item))
		if ((item.kind == PYJSON_STRING) == text &&
		    title_is_better(role, key.text + 1, key.size - 2, &best))
			found = title_of(&key);
	return found;
}

static int choose_titles(struct maps_records *r, const struct pyjson_value *object)
{
	struct pyjson_walk walk = pyjson_items(object);
	VEC(struct map_value) titles = VEC_INIT;
	struct pyjson_value key, item;
	struct map_columns columns;
	int err = 0;

	if (r->input->classes) {
		r->titles[0] = find_class_title(object, TITLE_CLASS_NUMBER, false);
		r->titles[1] = find_class_title(object, TITLE_CLASS_NAME, true);
		return 0;
	}
	while (!err && pyjson_next(&walk, &key, &item))
		err = vec_push(&titles, title_of(&key));
	if (err)
		err = error_no_memory(r->e, r->input->path);
	else
		err = map_columns_choose(r->input, titles.items, NULL, titles.count, &columns,
					 r->e);
	/* of two items of a table the other one is the label: here "text" is no title of one */
	if (err == 1 && !r->input->notes->chosen &&
	    title_rank(TITLE_LABEL, titles.items[columns.value].text,
		       titles.items[columns.value].size) < 0)
		err = 0;
	if (err == 0)
		err = records_refuse(r, "no item is called as a label is, or as the name of a "
					"file; say which holds the label with -o labels=NAME");
	if (err == 1) {
		r->titles[0] = titles.items[columns.key];
		r->titles[1] = titles.items[columns.value];
	}
	vec_free(&titles);
	return err < 0 ? err : 0;
}

static int visit_object(struct maps_records *r, const struct pyjson_value *object)
{
	int err = 0;

	if (object->kind != PYJSON_OBJECT)
		return records_refuse(r, "is no JSON object, as those before it are");
	if (!r->begun)
		err = choose_titles(r, object);
	r->begun = true;
	if (!err)
		err = records_read(r, 0, object, &r->pair.key);
	if (!err)
		err = records_read(r, 1, object, &r->pair.value);
	if (!err)
		err = r->input->visit(r->input->context, &r->pair, r->e);
	r->pair.order++;
	return err;
}

static int visit_text(struct maps_records *r, const char *text, size_t n, bool list)
{
	CLEANUP(pyjson_end) struct pyjson json = { .copy = NULL };
	struct pyjson_fault fault;
	struct pyjson_value key, item;
	struct pyjson_walk walk;
	int err = pyjson_begin(&json, text, n, &fault);

	if (err == -ENOMEM)
		return error_no_memory(r->e, r->input->path);
	if (err)
		return error_set(r->e, ERROR_DATASET, EBADMSG,
				 "%s: line %zu: this JSON cannot be read: %s", r->input->path,
				 list ? fault.line : r->pair.place, fault.what);
	if (!list)
		return visit_object(r, &json.root);
	walk = pyjson_items(&json.root);
	while (!err && pyjson_next(&walk, &key, &item)) {
		r->pair.place++;
		err = visit_object(r, &item);
	}
	return err;
}

int map_visit_records(const struct map_input *input, struct error *e)
{
	struct maps_records r = { .input = input, .pair.unit = "line", .e = e };
	bool list = input->bytes[skip_blanks(input, 0, input->n)] == '[';
	int err = 0;

	if (list) {
		r.pair.unit = "item";
		err = visit_text(&r, input->bytes, input->n, true);
	}
	for (size_t at = 0, end; at < input->n && !list && !err; at = end + 1) {
		end = line_end(input, at);
		r.pair.place++;
		if (skip_blanks(input, at, end) < end)
			err = visit_text(&r, input->bytes + at, end - at, false);
	}
	vec_free(&r.texts[0]);
	vec_free(&r.texts[1]);
	return err;
}
