/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/class_text.h"

#include <errno.h>
#include <string.h>

#include "maps/class_columns.h"
#include "maps/class_rows.h"

/* Has a remedy: what a list of names says without doubt. */
#define REMEDY_JSON                                                                      \
	"or write the names as a JSON list, [\"a\", \"b\"], in the order of their "      \
	"labels"

static int visit_rows(const struct map_input *input, const struct class_rows *rows,
		      struct error *e)
{
	struct map_pair pair = {
		.key = {.kind = MAP_NUMBER}, .value = {.kind = MAP_TEXT}, .unit = "line"};
	int err = 0;

	for (size_t i = 0; i < rows->items.count && !err; i++) {
		const struct class_row *row = &rows->items.items[i];

		pair.key.number = row->number;
		pair.value.text = row->name;
		pair.value.size = row->size;
		pair.place = row->place;
		err = input->visit(input->context, &pair, e);
	}
	return err;
}

static int refuse_partly(const struct map_input *input, const struct class_rows *rows,
			 struct error *e)
{
	size_t i = 0;

	while (i + 1 < rows->items.count && rows->items.items[i].numbered)
		i++;
	return map_refuse_line(
		input, rows->items.items[i].place,
		"it has no number and a name, and most other lines do; add what is "
		"missing, " REMEDY_JSON,
		e);
}

static int refuse_twice(const struct map_input *input, const struct map_lines *lines,
			struct error *e)
{
	return map_refuse_line(
		input, lines->items.items[0].place,
		"it is not clear which column holds the labels, and which the names; "
		"call them 'id' and 'name' in a first line, " REMEDY_JSON,
		e);
}

/* Lines in one of the forms that say numbers: 1, 0 where they are none, or an errno. */
static int visit_form(const struct map_input *input, struct map_lines *lines,
		      enum class_form form, bool doubts, struct class_text_reading *reading,
		      struct error *e)
{
	struct class_rows rows;
	enum class_rows_kind are = CLASS_ROWS_PLAIN;
	int err = class_rows_split(lines, form, &rows);

	if (!err)
		err = class_rows_classify(&rows, &are);
	if (err) {
		err = error_no_memory(e, input->path);
	} else if (are == CLASS_ROWS_NUMBERED) {
		reading->numbered = true;
		reading->titles = rows.titles;
		err = visit_rows(input, &rows, e);
		err = err ? err : 1;
	} else if (doubts && are == CLASS_ROWS_PARTLY) {
		err = refuse_partly(input, &rows, e);
	} else if (are == CLASS_ROWS_TWICE && (doubts || rows.many)) {
		err = refuse_twice(input, lines, e);
	}
	vec_free(&rows.items);
	return err;
}

/* First what is beyond doubt in some form, then what is not in any. */
static int visit_numbered(const struct map_input *input, struct map_lines *lines,
			  struct class_text_reading *reading, struct error *e)
{
	int found = 0;

	for (int i = 0; i < 2 * CLASS_FORMS && found == 0; i++)
		found = visit_form(input, lines, (enum class_form)(i % CLASS_FORMS),
				   i >= CLASS_FORMS, reading, e);
	return found;
}

static bool is_number_line(const struct map_line *line)
{
	int64_t number;

	return map_parse_number(line->text, line->size, &number);
}

/* The doubt about the first of several lines, which may be no class; NULL: none. */
static const char *first_line_doubt(const struct map_lines *lines)
{
	const struct map_line *items = lines->items.items;
	size_t numbers = 0;

	for (size_t i = 1; i < lines->items.count; i++)
		numbers += is_number_line(&items[i]);
	if (lines->items.count < 2)
		return NULL;
	if (class_title_of_names(items[0].text, items[0].size))
		return "it reads like the title of a column; remove it, " REMEDY_JSON;
	if (is_number_line(&items[0]) && numbers == 0)
		return "it is a number, and the lines that follow are names; remove "
		       "it, " REMEDY_JSON;
	return NULL;
}

static bool is_bulleted(const struct map_lines *lines)
{
	for (size_t i = 0; i < lines->items.count; i++)
		if (lines->items.items[i].size < 3 ||
		    memcmp(lines->items.items[i].text, "- ", 2) != 0)
			return false;
	return true;
}

/* A name a line, with or without quotes. */
static int visit_names(const struct map_input *input, struct map_lines *lines,
		       struct error *e)
{
	struct map_pair pair = {.value = {.kind = MAP_TEXT}, .unit = "line"};
	const char *doubt = first_line_doubt(lines);
	size_t bullet = is_bulleted(lines) ? 2 : 0;
	int err = 0;

	if (lines->blank)
		return error_set(
			e, ERROR_DATASET, EBADMSG,
			"%s: line %zu is empty, and other lines follow: each line is a "
			"class; remove it",
			input->path, lines->blank);
	if (doubt)
		return map_refuse_line(input, lines->items.items[0].place, doubt,
					      e);
	for (size_t i = 0; i < lines->items.count && !err; i++) {
		const struct map_line *line = &lines->items.items[i];

		pair.order = i;
		pair.place = line->place;
		pair.value.text = line->text + bullet;
		pair.value.size = line->size - bullet;
		map_trim(&pair.value.text, &pair.value.size);
		if (map_unquote(lines, &pair.value.text, &pair.value.size) < 0)
			return error_no_memory(e, input->path);
		err = input->visit(input->context, &pair, e);
	}
	return err;
}

int map_visit_class_text(const struct map_input *input, struct class_text_reading *reading,
			 struct error *e)
{
	struct map_lines lines;
	int err = map_lines_read(input, &lines, e);

	reading->comments = lines.comments;
	if (!err && map_is_yaml_classes(&lines)) {
		err = map_visit_yaml_classes(input, &lines, e);
	} else if (!err && map_is_label_map(&lines)) {
		err = map_visit_label_map(input, e);
	} else if (!err) {
		err = visit_numbered(input, &lines, reading, e);
		if (err == 0)
			err = visit_names(input, &lines, e);
	}
	map_lines_free(&lines);
	return err < 0 ? err : 0;
}
