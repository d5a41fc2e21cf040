/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "maps/maps_columns.h"

enum { ROW_MOST = 1 << 20 }; /* bytes: a quote that is not closed ends somewhere */

struct field {
	size_t start, size; /* in the scratch */
};

struct maps_table {
	const struct map_input *input;
	const char *at, *end;
	char delimiter;
	size_t line;          /* of what comes next */
	size_t row_line;      /* where the row in hand began */
	VEC(char) scratch;    /* the row in hand, without its quotes */
	VEC(struct field) fields;
	struct map_columns columns;
	size_t least;         /* columns that there must be */
	VEC(struct map_value) titles; /* where each is a class: of `title_text` */
	VEC(char) title_text;
	VEC(struct map_value) row;    /* in hand */
	bool label_first;     /* "3 a b.jpg": the label is all before the first blank */
	bool begun;           /* a row has come, and no comment that has no blank */
};

static int maps_table_refuse_row(const struct maps_table *t, const char *what,
				 struct error *e)
{
	return map_refuse_line(t->input, t->row_line, what, e);
}

static bool at_row_end(const struct maps_table *t)
{
	return t->at == t->end || *t->at == '\n' || *t->at == '\r';
}

static void skip_row_end(struct maps_table *t)
{
	if (t->at < t->end && *t->at == '\r')
		t->at++;
	if (t->at < t->end && *t->at == '\n')
		t->at++;
	t->line++;
}

static int maps_table_store(struct maps_table *t, char byte, struct error *e)
{
	if (t->scratch.count == ROW_MOST)
		return maps_table_refuse_row(
			t,
			"a row of more than 1 MiB, or a quote that is not "
			"closed",
			e);
	return vec_push(&t->scratch, byte) < 0 ? error_no_memory(e, t->input->path) : 0;
}

/* Behind the opening quote, as far as the closing one: "" is a quote within. */
static int read_quoted(struct maps_table *t, struct error *e)
{
	int err = 0;

	while (!err) {
		if (t->at == t->end)
			return maps_table_refuse_row(t, "a quote that is not closed", e);
		if (*t->at == '"' && (t->at + 1 == t->end || t->at[1] != '"'))
			break;
		t->at += *t->at == '"';
		t->line += *t->at == '\n';
		err = maps_table_store(t, *t->at++, e);
	}
	t->at++;
	if (!err && !at_row_end(t) && *t->at != t->delimiter)
		err = maps_table_refuse_row(t, "something follows a closing quote", e);
	return err;
}

static int read_field(struct maps_table *t, struct error *e)
{
	struct field field = { .start = t->scratch.count };
	int err = 0;

	if (t->at < t->end && *t->at == '"') {
		t->at++;
		err = read_quoted(t, e);
	} else {
		while (!err && !at_row_end(t) && *t->at != t->delimiter)
			err = maps_table_store(t, *t->at++, e);
	}
	field.size = t->scratch.count - field.start;
	if (!err && vec_push(&t->fields, field) < 0)
		err = error_no_memory(e, t->input->path);
	return err;
}

/* "name label": the name is all before the last blank; or the label all before the first. */
static int read_pair(struct maps_table *t, struct error *e)
{
	struct field left = { 0 }, right = { 0 };
	size_t n;
	int err = 0;

	while (!err && !at_row_end(t))
		err = maps_table_store(t, *t->at++, e);
	if (err)
		return err;
	for (n = t->scratch.count; n && t->scratch.items[n - 1] == ' ';)
		n--;
	right.start = t->label_first ? 0 : n;
	while (t->label_first ? right.start < n && t->scratch.items[right.start] != ' ' :
				right.start && t->scratch.items[right.start - 1] != ' ')
		right.start += t->label_first ? 1 : (size_t)-1;
	left.size = right.start;
	while (left.size && t->scratch.items[left.size - 1] == ' ')
		left.size--;
	while (right.start < n && t->scratch.items[right.start] == ' ')
		right.start++;
	right.size = n - right.start;
	/* one word alone is one column */
	if ((left.size && vec_push(&t->fields, left) < 0) ||
	    ((right.size || !left.size) && vec_push(&t->fields, right) < 0))
		return error_no_memory(e, t->input->path);
	return 0;
}

/* "# name label": with a blank behind it, or before all rows, no name of a file. */
static bool at_comment(const struct maps_table *t)
{
	return *t->at == '#' && (!t->begun || t->at + 1 == t->end || t->at[1] == ' ');
}

static void skip_to_row(struct maps_table *t)
{
	while (t->at < t->end && (at_row_end(t) || at_comment(t))) {
		while (!at_row_end(t))
			t->at++;
		if (t->at < t->end)
			skip_row_end(t);
	}
	t->begun = true;
}

/* The next row that is not empty: 1, 0 at the end, or an errno. */
static int next_row(struct maps_table *t, struct error *e)
{
	int err = 0;

	skip_to_row(t);
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

static struct map_value field_value(const struct maps_table *t, size_t i)
{
	struct field field = t->fields.items[i];

	return (struct map_value){.kind = MAP_TEXT,
				  .size = field.size,
				  .text = field.size ? t->scratch.items + field.start
						     : ""};
}

static struct map_value maps_table_label_of(const struct maps_table *t)
{
	struct map_value value = field_value(t, t->columns.value);
	const char *blank = memchr(value.text, ' ', value.size);

	/* "n03146219 12 33 ...": the boxes follow */
	if (t->columns.first_word && blank)
		value.size = (size_t)(blank - value.text);
	return value;
}

static void list_fields(const struct maps_table *t, struct map_value *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = field_value(t, i);
}

/* The class of the one column that has a 1. */
static int find_hot(struct maps_table *t, struct map_value *out, struct error *e)
{
	size_t n = t->titles.count;

	list_fields(t, t->row.items, n);
	*out = map_columns_hot(&t->columns, t->titles.items, t->row.items, n);
	return out->kind != MAP_OTHER ? 0 : maps_table_refuse_row(
		t, "each column but the name is a class, and has 0 or 1, once 1 in a row: this "
		   "one has other values; say which column holds the labels with -o labels=NAME",
		e);
}

static int emit_row(struct maps_table *t, struct error *e)
{
	struct map_pair pair = { .unit = "line", .place = t->row_line };
	int err = 0;

	if (t->fields.count < t->least)
		return maps_table_refuse_row(
			t,
			"a row needs a name and a label, and has too few "
			"columns",
			e);
	if (t->least == 2 && t->fields.count > 2)
		return maps_table_refuse_row(
			t,
			"more than the two columns name and label; quote what "
			"has a delimiter in it",
			e);
	pair.key = field_value(t, t->columns.key);
	if (t->columns.hot)
		err = find_hot(t, &pair.value, e);
	else
		pair.value = maps_table_label_of(t);
	return err ? err : t->input->visit(t->input->context, &pair, e);
}

/* A first row without a number, before a second one with a number, is titles. */
static bool is_title_for(const struct maps_table *t, const struct maps_table *second)
{
	struct map_value a, b;
	int64_t number;

	if (t->fields.count < 2 || second->fields.count < 2)
		return false;
	a = maps_table_label_of(t);
	b = maps_table_label_of(second);
	return !map_parse_number(a.text, a.size, &number) &&
	       map_parse_number(b.text, b.size, &number);
}

/* A table of the same bytes, as far as it has been read, with rows of its own. */
static struct maps_table fork_table(const struct maps_table *t)
{
	struct maps_table other = *t;

	other.scratch = (typeof(other.scratch))VEC_INIT;
	other.fields = (typeof(other.fields))VEC_INIT;
	other.row = (typeof(other.row))VEC_INIT;
	return other;
}

static void maps_table_free_table(struct maps_table *t)
{
	vec_free(&t->scratch);
	vec_free(&t->fields);
	vec_free(&t->row);
}

/* Looks at the row behind it first, without going there. */
static int emit_first_row(struct maps_table *t, struct error *e)
{
	struct maps_table second = fork_table(t);
	struct error ignored;
	int more = next_row(&second, &ignored); /* a fault comes again */

	if (more != 1 || !is_title_for(t, &second))
		more = emit_row(t, e);
	else
		more = 0;
	maps_table_free_table(&second);
	return more;
}

/* "a/b", "a.jpg", "a.jpeg" */
static bool is_path(const struct map_value *field)
{
	const char *dot = memrchr(field->text, '.', field->size);
	size_t suffix = dot ? field->size - (size_t)(dot + 1 - field->text) : 0;
	bool letter = false;

	if (memchr(field->text, '/', field->size))
		return true;
	for (size_t i = 0; i < suffix; i++)
		letter |= isalpha((unsigned char)dot[1 + i]) != 0;
	return letter && suffix <= 5;
}

/* Are all rows, but perhaps the first, a number and a path? */
static bool is_label_first(const struct maps_table *t)
{
	struct maps_table all = fork_table(t);
	size_t rows = 0, found = 0;
	struct error ignored;

	all.label_first = true;
	while (found + 1 >= rows && next_row(&all, &ignored) == 1) {
		struct map_value label, name;
		int64_t number;

		rows++;
		if (all.fields.count != 2)
			continue;
		label = field_value(&all, 0);
		name = field_value(&all, 1);
		found += map_parse_number(label.text, label.size, &number) && is_path(&name);
	}
	maps_table_free_table(&all);
	return found && found + 1 >= rows;
}

/*
 * Are all rows a number, a label and a path, with tabs between them, as MXNet's im2rec.py
 * writes its .lst?
 */
static bool is_numbered_list(const struct maps_table *t)
{
	struct maps_table all = fork_table(t);
	size_t rows = 0, found = 0;
	struct error ignored;

	while (t->delimiter == '\t' && found == rows && next_row(&all, &ignored) == 1) {
		struct map_value number, label, name;
		int64_t value;

		rows++;
		if (all.fields.count != 3)
			continue;
		number = field_value(&all, 0);
		label = field_value(&all, 1);
		name = field_value(&all, 2);
		found += map_parse_number(number.text, number.size, &value) &&
			 map_parse_number(label.text, label.size, &value) && is_path(&name);
	}
	maps_table_free_table(&all);
	return found && found == rows;
}

/* The delimiter of the first row: a tab, a comma, a semicolon, a bar, or blanks. */
static char delimiter_of(const struct maps_table *t)
{
	static const char delimiters[] = "\t,;|";
	struct maps_table first = *t;
	const char *newline;
	size_t size;

	skip_to_row(&first);
	size = (size_t)(first.end - first.at);
	newline = size ? memchr(first.at, '\n', size) : NULL;
	size = newline ? (size_t)(newline - first.at) : size;
	for (const char *d = delimiters; *d; d++)
		if (size && memchr(first.at, *d, size))
			return *d;
	return ' ';
}

/*
 * Looks at the first row: which columns are the name and the label? 1 if it is a title
 * line, 0 if it is none (or it does not say so), or an errno. The texts of the titles stay.
 */
static int choose_columns(struct maps_table *t, struct error *e)
{
	size_t n = t->fields.count;
	struct maps_table second = fork_table(t);
	struct error ignored;
	bool whole = next_row(&second, &ignored) == 1 && second.fields.count == n;
	int r;

	t->columns.value = 1;
	t->least = 2;
	if (vec_reserve(&t->titles, n) < 0 || vec_reserve(&t->row, n) < 0) {
		maps_table_free_table(&second);
		return error_no_memory(e, t->input->path);
	}
	list_fields(t, t->titles.items, n);
	list_fields(&second, t->row.items, whole ? n : 0);
	t->titles.count = n;
	r = map_columns_choose(t->input, t->titles.items, whole ? t->row.items : NULL, n,
			       &t->columns, e);
	maps_table_free_table(&second);
	if (r == 1 && n > 2)
		t->least = n;
	if (r == 1) {
		t->title_text.items = t->scratch.items;
		t->scratch.items = NULL;
		t->scratch.count = t->scratch.room = 0;
	}
	return r;
}

/* The first row, and which columns it shows the others to have. */
static int begin_table(struct maps_table *t, struct error *e)
{
	struct maps_table start = fork_table(t);
	bool label_first = is_label_first(&start);
	int more;

	if (is_numbered_list(&start)) {
		t->columns.key = 2;
		t->columns.value = 1;
		t->least = 3;
		return 1;
	}
	more = next_row(t, e);
	if (more != 1)
		return more;
	more = choose_columns(t, e);
	if (more != 0)
		return more;
	if (label_first) {
		t->label_first = true;
		t->columns.key = 1;
		t->columns.value = 0;
		/* the first row was taken apart otherwise */
		t->at = start.at;
		t->line = start.line;
		t->begun = start.begun;
		more = next_row(t, e);
	}
	more = more < 0 ? more : emit_first_row(t, e);
	return more < 0 ? more : 1;
}

int map_visit_table(const struct map_input *input, struct error *e)
{
	struct maps_table t = { .input = input, .line = 1, .at = input->bytes,
			   .end = input->bytes + input->n };
	int more;

	t.delimiter = delimiter_of(&t);
	more = begin_table(&t, e);
	while (more == 1) {
		more = next_row(&t, e);
		if (more == 1) {
			int err = emit_row(&t, e);

			more = err ? err : 1;
		}
	}
	vec_free(&t.titles);
	vec_free(&t.title_text);
	maps_table_free_table(&t);
	return more;
}
