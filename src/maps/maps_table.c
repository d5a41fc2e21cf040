/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "maps/maps_pairs.h"
#include "names/column_titles.h"
#include "names/label_words.h"

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
	size_t key, value;    /* columns */
	size_t columns;       /* that there must be at least */
	bool first_word;      /* "n03146219 12 33 ...": the boxes follow */
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
	struct map_value value = field_value(t, t->value);
	const char *blank = memchr(value.text, ' ', value.size);

	if (t->first_word && blank)
		value.size = (size_t)(blank - value.text);
	return value;
}

static int emit_row(const struct maps_table *t, struct error *e)
{
	struct map_pair pair = { .unit = "line", .place = t->row_line };

	if (t->fields.count < t->columns)
		return maps_table_refuse_row(
			t,
			"a row needs a name and a label, and has too few "
			"columns",
			e);
	if (t->columns == 2 && t->fields.count > 2)
		return maps_table_refuse_row(
			t,
			"more than the two columns name and label; quote what "
			"has a delimiter in it",
			e);
	pair.key = field_value(t, t->key);
	pair.value = maps_table_label_of(t);
	return t->input->visit(t->input->context, &pair, e);
}

/* The column, but one, with the most usual title; -1: none has one. */
static int find_title(const struct maps_table *t, enum title_role role, int but)
{
	int found = -1, best = -1;

	for (size_t i = 0; i < t->fields.count; i++) {
		struct map_value field = field_value(t, i);
		int rank = title_rank(role, field.text, field.size);

		if (rank < 0 || (int)i == but || (found >= 0 && rank >= best))
			continue;
		found = (int)i;
		best = rank;
	}
	return found;
}

static bool is_split_title(struct map_value field)
{
	char title[16];

	snprintf(title, sizeof(title), "%.*s", (int)(field.size < 15 ? field.size : 15),
		 field.text);
	return name_may_say_split(title);
}

/*
 * Looks at the first row: which columns are the name and the label? 1 if it is a title
 * line, 0 if it is none (or it does not say so), or an errno.
 */
static int choose_columns(struct maps_table *t, struct error *e)
{
	int value = find_title(t, TITLE_LABEL, -1), key = find_title(t, TITLE_FILE, value);

	t->value = 1;
	t->columns = 2;
	if (t->fields.count > 2 && (key < 0 || value < 0))
		return maps_table_refuse_row(
			t,
			"more than two columns, and no titles that say which is "
			"the name and which the label; call them 'name' and 'label'",
			e);
	if (key < 0 && value < 0)
		return 0;
	if (t->fields.count < 2)
		return maps_table_refuse_row(t,
					     "a table needs two columns, name and label",
					     e);
	t->value = value >= 0 ? (size_t)value : key == 0 ? 1 : 0;
	t->key = key >= 0 ? (size_t)key : t->value == 0 ? 1 : 0;
	if (t->fields.count > 2)
		t->columns = t->fields.count;
	t->first_word = field_value(t, t->value).size == strlen("predictionstring");
	for (size_t i = 0; i < t->fields.count && t->input->splits; i++)
		*t->input->splits |= is_split_title(field_value(t, i));
	return 1;
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
	return other;
}

static void maps_table_free_table(struct maps_table *t)
{
	vec_free(&t->scratch);
	vec_free(&t->fields);
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

/* What the first row has: a tab, a comma, a semicolon, a bar, or only blanks. */
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

/* The first row, and which columns it shows the others to have. */
static int begin_table(struct maps_table *t, struct error *e)
{
	struct maps_table start = fork_table(t);
	bool label_first = is_label_first(&start);
	int more = next_row(t, e);

	if (more != 1)
		return more;
	more = choose_columns(t, e);
	if (more != 0)
		return more;
	if (label_first) {
		t->label_first = true;
		t->key = 1;
		t->value = 0;
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
	maps_table_free_table(&t);
	return more;
}
