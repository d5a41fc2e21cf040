/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/class_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maps/class_columns.h"
#include "names/label_words.h"

enum {
	WNID_BYTES = 9, /* "n01440764" */
	FIELDS_MOST = 64,
	NUMBERS_SPARE = 16, /* labels beyond twice their count are years, prices, ... */
};

#define DELIMITERS " \t,;:|="

struct class_field {
	const char *text;
	size_t size;
};

struct class_fields {
	struct class_field items[FIELDS_MOST];
	size_t count;
};

size_t class_wnid_length(const char *text, size_t size)
{
	if (size < WNID_BYTES || !name_is_wnid(text, WNID_BYTES) ||
	    (size > WNID_BYTES && !strchr(DELIMITERS, text[WNID_BYTES])))
		return 0;
	return WNID_BYTES;
}

/* A quoted one ends at its closing quote; all others at the delimiter. */
static const char *field_end(const char *at, const char *end, char delimiter)
{
	bool quoted = at < end && *at == '"';

	for (const char *p = at + quoted; quoted && p < end; p++)
		if (*p == '"' && (p + 1 == end || p[1] != '"'))
			return p + 1 == end || p[1] == delimiter
				       ? p + 1
				       : field_end(p + 1, end, delimiter);
		else
			p += *p == '"';
	at = memchr(at, delimiter, (size_t)(end - at));
	return at ? at : end;
}

static int split_fields(struct map_lines *lines, const struct map_line *line,
			char delimiter, struct class_fields *out)
{
	const char *at = line->raw + line->indent, *end = line->text + line->size;

	/* an empty field at the beginning is one, too */
	if (delimiter == '\t')
		at = line->raw;
	out->count = 0;
	for (;; at++) {
		const char *next = field_end(at, end, delimiter);
		const char *text = at;
		size_t size = (size_t)(next - at);

		if (out->count == FIELDS_MOST) {
			out->count = 0;
			return 0;
		}
		map_trim(&text, &size);
		if (map_unquote(lines, &text, &size) < 0)
			return -ENOMEM;
		out->items[out->count].text = text;
		out->items[out->count++].size = size;
		at = next;
		if (at == end)
			return 0;
	}
}

static void count_field(struct class_column *column, const char *text, size_t size,
			bool first)
{
	int64_t number;
	bool is_number = map_parse_number(text, size, &number);

	if (first) {
		*column = (struct class_column){text, size, is_number, 0, 0};
		return;
	}
	column->numbers += is_number;
	column->wnids += class_wnid_length(text, size) == size && size;
}

/* Have all lines as many fields, two at least? Then what is in them is counted. */
static int count_columns(struct map_lines *lines, char delimiter,
			 struct class_column columns[FIELDS_MOST], size_t *n)
{
	struct class_fields fields;

	*n = 0;
	for (size_t i = 0; i < lines->items.count; i++) {
		if (split_fields(lines, &lines->items.items[i], delimiter, &fields) < 0)
			return -ENOMEM;
		if (fields.count < 2 || (i && fields.count != *n)) {
			*n = 0;
			return 0;
		}
		*n = fields.count;
		for (size_t k = 0; k < *n; k++)
			count_field(&columns[k], fields.items[k].text,
				    fields.items[k].size, i == 0);
	}
	return 0;
}

static int add_row(struct class_rows *rows, const struct map_line *line, const char *name,
		   size_t size, const char *number, size_t digits)
{
	struct class_row row = {.name = name, .size = size, .place = line->place};

	row.numbered = size && map_parse_number(number, digits, &row.number);
	if (!row.numbered)
		row.name = line->text, row.size = line->size;
	return vec_push(&rows->items, row);
}

static int class_rows_split_columns(struct map_lines *lines, char delimiter,
				    const struct class_columns_choice *choice,
				    struct class_rows *rows)
{
	struct class_fields fields;
	int err = 0;

	for (size_t i = choice->titles; i < lines->items.count && !err; i++) {
		const struct map_line *line = &lines->items.items[i];
		const struct class_field *name, *label;
		struct class_field order;
		char place[24];

		err = split_fields(lines, line, delimiter, &fields);
		if (err)
			break;
		name = &fields.items[choice->name];
		label = &fields.items[choice->label];
		if (choice->found == CLASS_COLUMNS_TITLED) {
			snprintf(place, sizeof(place), "%zu", i - choice->titles);
			order = (struct class_field){place, strlen(place)};
			label = &order;
		}
		err = add_row(rows, line, name->text, name->size, label->text,
			      label->size);
	}
	return err;
}

/* Titles are called so; another first line has no number, and is no title. */
static bool are_titles(const struct class_column *columns,
		       const struct class_columns_choice *choice)
{
	const struct class_column *label = &columns[choice->label];
	const struct class_column *name = &columns[choice->name];

	return choice->found == CLASS_COLUMNS_TITLED ||
	       class_title_of_labels(label->title, label->title_size) ||
	       class_title_of_names(name->title, name->title_size);
}

static int split_columns(struct map_lines *lines, struct class_rows *rows)
{
	static const char delimiters[] = "\t,;|";
	struct class_column columns[FIELDS_MOST];
	struct class_columns_choice choice;
	size_t n = 0;

	for (const char *d = delimiters; *d; d++) {
		if (count_columns(lines, *d, columns, &n) < 0)
			return -ENOMEM;
		if (n == 0)
			continue;
		choice = class_columns_choose(columns, n, lines->items.count);
		if (choice.found == CLASS_COLUMNS_NONE)
			continue;
		rows->many = choice.found == CLASS_COLUMNS_MANY;
		if (rows->many)
			return 0;
		choice.titles = choice.titles && are_titles(columns, &choice);
		rows->titles = choice.titles;
		return class_rows_split_columns(lines, *d, &choice, rows);
	}
	return 0;
}

/* Passes blanks, one delimiter that is none, and blanks; a dash needs some around it. */
static const char *skip_delimiter(const char *at, const char *end, bool *blanks)
{
	const char *begin = at;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	*blanks = true;
	if (at + 1 < end && (*at == '-' || *at == '=') && at[1] == '>') {
		*blanks = false;
		at += 2;
	} else if (at < end &&
		   (strchr(",;:|=)", *at) ||
		    (*at == '-' && at > begin && at + 1 < end && at[1] == ' '))) {
		*blanks = false;
		at++;
	}
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* The number's own text: "[0]", "'0'" and "0." are 0. */
static void bare_number(const char **text, size_t *size)
{
	static const char *const around[] = {"\"\"", "''", "[]", "("};

	for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++) {
		const char *a = around[i];

		if (*size < 2 || **text != a[0] || (a[1] && (*text)[*size - 1] != a[1]))
			continue;
		++*text;
		*size -= a[1] ? 2 : 1;
		return;
	}
	if (*size > 1 && (*text)[*size - 1] == '.')
		--*size;
}

static int split_leading(struct map_lines *lines, const struct map_line *line,
			 struct class_rows *rows)
{
	const char *end = line->text + line->size, *number = line->text;
	size_t digits = 0, size;
	const char *name;
	bool blanks;

	while (digits < line->size && !strchr(DELIMITERS ")", number[digits]))
		digits++;
	name = skip_delimiter(number + digits, end, &blanks);
	rows->blanks &= blanks;
	bare_number(&number, &digits);
	size = (size_t)(end - name);
	if (map_unquote(lines, &name, &size) < 0)
		return -ENOMEM;
	return add_row(rows, line, name, size, number, digits);
}

/* How much of the end of a text parts it from what follows: "->", " -", ":". */
static size_t delimiter_before(const char *text, size_t size)
{
	char last = size ? text[size - 1] : '\0',
	     before = size > 1 ? text[size - 2] : '\0';

	if (last == '>' && (before == '-' || before == '='))
		return 2;
	if (last == '-' && before == ' ')
		return 1;
	return last && strchr(",;:|=", last) ? 1 : 0;
}

static int split_trailing(struct map_lines *lines, const struct map_line *line,
			  struct class_rows *rows)
{
	const char *end = line->text + line->size, *number = end, *name = line->text;
	size_t digits, size;

	while (number > line->text && !strchr(DELIMITERS, number[-1]))
		number--;
	digits = (size_t)(end - number);
	size = (size_t)(number - line->text);
	map_trim(&name, &size);
	size -= delimiter_before(name, size);
	rows->blanks &= size == 0 || name[size] == ' ' || name[size] == '\t';
	map_trim(&name, &size);
	bare_number(&number, &digits);
	if (map_unquote(lines, &name, &size) < 0)
		return -ENOMEM;
	return add_row(rows, line, name, size, number, digits);
}

/* "n02119789 1 kit_fox" of ILSVRC's map_clsloc.txt: the wnid is the name. */
static int split_second(const struct map_line *line, struct class_rows *rows)
{
	const char *end = line->text + line->size, *number = line->text;
	size_t wnid = class_wnid_length(line->text, line->size), digits = 0;
	bool blanks;

	if (wnid == 0)
		return add_row(rows, line, "", 0, "", 0);
	number = skip_delimiter(line->text + wnid, end, &blanks);
	while (number + digits < end && !strchr(DELIMITERS, number[digits]))
		digits++;
	return add_row(rows, line, line->text, wnid, number, digits);
}

/* The first line of words, before lines of numbers: "id name", in this form. */
static void drop_titles(struct class_rows *rows, enum class_form form)
{
	const struct class_row *first = rows->items.items;
	const char *text = first->name, *end = text + first->size;
	size_t size = 0, n = rows->items.count, with = 0;

	for (size_t i = 1; i < n; i++)
		with += rows->items.items[i].numbered;
	if (n < 2 || first->numbered || with != n - 1)
		return;
	if (form == CLASS_FORM_LEADING) {
		while (text + size < end && !strchr(DELIMITERS, text[size]))
			size++;
	} else {
		while (size < first->size &&
		       !strchr(DELIMITERS, end[-1 - (ptrdiff_t)size]))
			size++;
		text = end - size;
	}
	if (size == first->size || !class_title_of_labels(text, size))
		return;
	rows->titles = true;
	memmove(rows->items.items, rows->items.items + 1,
		--rows->items.count * sizeof(*first));
}

int class_rows_split(struct map_lines *lines, enum class_form form,
		     struct class_rows *out)
{
	int err = 0;

	*out = (struct class_rows){.blanks = form != CLASS_FORM_COLUMNS};
	if (form == CLASS_FORM_COLUMNS)
		return split_columns(lines, out);
	for (size_t i = 0; i < lines->items.count && !err; i++) {
		const struct map_line *line = &lines->items.items[i];

		err = form == CLASS_FORM_LEADING    ? split_leading(lines, line, out)
		      : form == CLASS_FORM_TRAILING ? split_trailing(lines, line, out)
						    : split_second(line, out);
	}
	if (!err && out->items.count)
		drop_titles(out, form);
	return err;
}

/* ---- Are they labels? ---- */

static int by_number(const void *left, const void *right)
{
	const struct class_row *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

static int class_rows_by_text(const void *left, const void *right)
{
	const struct class_row *a = left, *b = right;
	int order = memcmp(a->name, b->name, a->size < b->size ? a->size : b->size);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

static size_t count_distinct(struct class_row *rows, size_t n,
			     int (*compare)(const void *, const void *))
{
	size_t distinct = n > 0;

	if (n)
		qsort(rows, n, sizeof(*rows), compare);
	for (size_t i = 1; i < n; i++)
		distinct += compare(&rows[i - 1], &rows[i]) != 0;
	return distinct;
}

/* Does the number lie where labels of so many classes do? */
static bool is_near(const struct class_row *row, size_t n)
{
	return row->number >= -1 && row->number < (int64_t)(2 * n + NUMBERS_SPARE);
}

static enum class_rows_kind judge_sorted(struct class_row *numbered, size_t with,
					 size_t n, bool blanks)
{
	size_t near = 0, distinct, names, numbers = 0;

	for (size_t i = 0; i < with; i++) {
		int64_t number;

		near += is_near(&numbered[i], n);
		numbers += map_parse_number(numbered[i].name, numbered[i].size, &number);
	}
	distinct = count_distinct(numbered, with, by_number);
	names = count_distinct(numbered, with, class_rows_by_text);
	if (2 * names <= with && with > 1) /* "class 1", "class 2" */
		return CLASS_ROWS_PLAIN;
	if (with == n && n == 1 && blanks)
		return CLASS_ROWS_PLAIN;
	if (2 * near <= with && (distinct < with || with < n)) /* "Acura RL Sedan 2012" */
		return CLASS_ROWS_PLAIN;
	if (with < n)
		return CLASS_ROWS_PARTLY;
	return numbers == n ? CLASS_ROWS_TWICE : CLASS_ROWS_NUMBERED;
}

int class_rows_classify(struct class_rows *rows, enum class_rows_kind *out)
{
	size_t n = rows->items.count, with = 0;
	struct class_row *numbered;

	*out = rows->many ? CLASS_ROWS_TWICE : CLASS_ROWS_PLAIN;
	if (n == 0)
		return 0;
	numbered = malloc(n * sizeof(*numbered));
	if (!numbered)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (rows->items.items[i].numbered)
			numbered[with++] = rows->items.items[i];
	if (2 * with > n)
		*out = judge_sorted(numbered, with, n, rows->blanks);
	if (*out == CLASS_ROWS_TWICE && rows->titles)
		*out = CLASS_ROWS_NUMBERED;
	free(numbered);
	return 0;
}
