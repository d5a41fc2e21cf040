/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "maps/maps_pairs.h"

enum { ROW_MOST = 1 << 20 }; /* bytes: a quote that is not closed ends somewhere */

struct field {
	size_t start, size; /* in the scratch */
};

struct table {
	const struct map_input *input;
	const char *at, *end;
	char delimiter;
	size_t line;          /* of what comes next */
	size_t row_line;      /* where the row in hand began */
	VEC(char) scratch;    /* the row in hand, without its quotes */
	VEC(struct field) fields;
	size_t key, value;    /* columns */
	size_t columns;       /* that there must be at least */
	bool first_word;      /* "n03146219 12 33 ...": the boxes follow */
};

/* What the column of names may be called: those of a line before those of the next. */
static const char *const key_titles[][12] = {
	{ "filepath", "file_path", "image_path" },
	{ "filename", "file_name", "fname", "file", "path", "image_name", "imagename", "image",
	  "images", "img" },
	{ "imageid", "image_id" },
	{ "name", "key", "id" }, /* beside a file's name an id is not the name */
};

static const char *const value_titles[] = {
	"label", "labels", "class", "class_id", "classid", "class_name", "classname",
	"target", "targets", "category", "wnid", "synset", "predictionstring", NULL,
};

static int refuse_row(const struct table *t, const char *what, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG, "%s: line %zu: %s", t->input->path,
			 t->row_line, what);
}

static int no_memory(const struct table *t, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM, "%s: out of memory", t->input->path);
}

static bool at_row_end(const struct table *t)
{
	return t->at == t->end || *t->at == '\n' || *t->at == '\r';
}

static void skip_row_end(struct table *t)
{
	if (t->at < t->end && *t->at == '\r')
		t->at++;
	if (t->at < t->end && *t->at == '\n')
		t->at++;
	t->line++;
}

static int keep(struct table *t, char byte, struct error *e)
{
	if (t->scratch.count == ROW_MOST)
		return refuse_row(t, "a row of more than 1 MiB, or a quote that is not "
				  "closed", e);
	return vec_push(&t->scratch, byte) < 0 ? no_memory(t, e) : 0;
}

/* Behind the opening quote, as far as the closing one: "" is a quote within. */
static int read_quoted(struct table *t, struct error *e)
{
	int err = 0;

	while (!err) {
		if (t->at == t->end)
			return refuse_row(t, "a quote that is not closed", e);
		if (*t->at == '"' && (t->at + 1 == t->end || t->at[1] != '"'))
			break;
		t->at += *t->at == '"';
		t->line += *t->at == '\n';
		err = keep(t, *t->at++, e);
	}
	t->at++;
	if (!err && !at_row_end(t) && *t->at != t->delimiter)
		err = refuse_row(t, "something follows a closing quote", e);
	return err;
}

static int read_field(struct table *t, struct error *e)
{
	struct field field = { .start = t->scratch.count };
	int err = 0;

	if (t->at < t->end && *t->at == '"') {
		t->at++;
		err = read_quoted(t, e);
	} else {
		while (!err && !at_row_end(t) && *t->at != t->delimiter)
			err = keep(t, *t->at++, e);
	}
	field.size = t->scratch.count - field.start;
	if (!err && vec_push(&t->fields, field) < 0)
		err = no_memory(t, e);
	return err;
}

/* "name label": the name is all before the last blank. */
static int read_pair(struct table *t, struct error *e)
{
	struct field name = { 0 }, label = { 0 };
	int err = 0;

	while (!err && !at_row_end(t))
		err = keep(t, *t->at++, e);
	if (err)
		return err;
	while (t->scratch.count && t->scratch.items[t->scratch.count - 1] == ' ')
		t->scratch.count--;
	label.start = t->scratch.count;
	while (label.start && t->scratch.items[label.start - 1] != ' ')
		label.start--;
	label.size = t->scratch.count - label.start;
	name.size = label.start;
	while (name.size && t->scratch.items[name.size - 1] == ' ')
		name.size--;
	/* one word alone is one column */
	if ((name.size && vec_push(&t->fields, name) < 0) ||
	    vec_push(&t->fields, label) < 0)
		return no_memory(t, e);
	return 0;
}

/* The next row that is not empty: 1, 0 at the end, or an errno. */
static int next_row(struct table *t, struct error *e)
{
	int err = 0;

	while (t->at < t->end && at_row_end(t))
		skip_row_end(t);
	if (t->at == t->end)
		return 0;
	t->row_line = t->line;
	t->scratch.count = t->fields.count = 0;
	if (t->delimiter == ' ')
		err = read_pair(t, e);
	else
		err = read_field(t, e);
	while (!err && !at_row_end(t)) {
		t->at++; /* the delimiter */
		err = read_field(t, e);
	}
	if (err)
		return err;
	skip_row_end(t);
	return 1;
}

static struct map_value field_value(const struct table *t, size_t i)
{
	struct field field = t->fields.items[i];

	return (struct map_value){.kind = MAP_TEXT,
				  .size = field.size,
				  .text = field.size ? t->scratch.items + field.start
						     : ""};
}

static struct map_value label_of(const struct table *t)
{
	struct map_value value = field_value(t, t->value);
	const char *blank = memchr(value.text, ' ', value.size);

	if (t->first_word && blank)
		value.size = (size_t)(blank - value.text);
	return value;
}

static int give(const struct table *t, struct error *e)
{
	struct map_pair pair = { .unit = "line", .place = t->row_line };

	if (t->fields.count < t->columns)
		return refuse_row(t, "a row needs a name and a label, and has too few "
				  "columns", e);
	if (t->columns == 2 && t->fields.count > 2)
		return refuse_row(t,
				  "more than the two columns name and label; quote what "
				  "has a delimiter in it",
				  e);
	pair.key = field_value(t, t->key);
	pair.value = label_of(t);
	return t->input->visit(t->input->context, &pair, e);
}

static bool is_title(const struct map_value *field, const char *title)
{
	return strlen(title) == field->size &&
	       strncasecmp(title, field->text, field->size) == 0;
}

/* The first column with one of the titles, or -1. */
static int find_title(const struct table *t, const char *const *titles)
{
	for (size_t i = 0; i < t->fields.count; i++) {
		struct map_value field = field_value(t, i);

		for (size_t k = 0; titles[k]; k++)
			if (is_title(&field, titles[k]))
				return (int)i;
	}
	return -1;
}

/*
 * Looks at the first row: which columns are the name and the label? 1 if it is a title
 * line, 0 if it is none (or it does not say so), or an errno.
 */
static int choose_columns(struct table *t, struct error *e)
{
	int key = -1, value = find_title(t, value_titles);

	for (size_t i = 0; i < sizeof(key_titles) / sizeof(*key_titles) && key < 0; i++)
		key = find_title(t, key_titles[i]);
	t->value = 1;
	t->columns = 2;
	if (t->fields.count > 2 && (key < 0 || value < 0))
		return refuse_row(
			t,
			"more than two columns, and no titles that say which is "
			"the name and which the label; call them 'name' and 'label'",
			e);
	if (key < 0 && value < 0)
		return 0;
	if (t->fields.count < 2)
		return refuse_row(t, "a table needs two columns, name and label", e);
	t->value = value >= 0 ? (size_t)value : key == 0 ? 1 : 0;
	t->key = key >= 0 ? (size_t)key : t->value == 0 ? 1 : 0;
	if (t->fields.count > 2)
		t->columns = t->fields.count;
	t->first_word = field_value(t, t->value).size == strlen("predictionstring");
	return 1;
}

/* A first row without a number, before a second one with a number, is titles. */
static bool is_title_for(const struct table *t, const struct table *second)
{
	struct map_value a, b;
	int64_t number;

	if (t->fields.count < 2 || second->fields.count < 2)
		return false;
	a = label_of(t);
	b = label_of(second);
	return !map_parse_number(a.text, a.size, &number) &&
	       map_parse_number(b.text, b.size, &number);
}

/* Looks at the row behind it first, without going there. */
static int give_first(struct table *t, struct error *e)
{
	struct table second = *t;
	struct error ignored;
	int more;

	second.scratch.items = NULL;
	second.scratch.count = second.scratch.room = 0;
	second.fields.items = NULL;
	second.fields.count = second.fields.room = 0;
	more = next_row(&second, &ignored); /* a fault comes again */
	if (more != 1 || !is_title_for(t, &second))
		more = give(t, e);
	else
		more = 0;
	vec_free(&second.scratch);
	vec_free(&second.fields);
	return more;
}

/* What the first row has: a tab, a comma, a semicolon, or only blanks. */
static char delimiter_of(const char *bytes, size_t n)
{
	static const char delimiters[] = "\t,;";
	const char *newline;
	size_t size;

	while (n && (*bytes == '\n' || *bytes == '\r'))
		bytes++, n--;
	newline = memchr(bytes, '\n', n);
	size = newline ? (size_t)(newline - bytes) : n;

	for (const char *d = delimiters; *d; d++)
		if (memchr(bytes, *d, size))
			return *d;
	return ' ';
}

int map_visit_table(const struct map_input *input, struct error *e)
{
	struct table t = { .input = input, .line = 1, .at = input->bytes,
			   .end = input->bytes + input->n,
			   .delimiter = delimiter_of(input->bytes, input->n) };
	int more, err;

	more = next_row(&t, e);
	if (more == 1) {
		more = choose_columns(&t, e);
		if (more == 0)
			more = give_first(&t, e);
		more = more < 0 ? more : 1;
	}
	while (more == 1) {
		more = next_row(&t, e);
		if (more == 1) {
			err = give(&t, e);
			more = err ? err : 1;
		}
	}
	vec_free(&t.scratch);
	vec_free(&t.fields);
	return more;
}
