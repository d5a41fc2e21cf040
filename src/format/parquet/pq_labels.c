/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/parquet/pq_labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ieee.h"
#include "build/findings.h"
#include "format/row_labels.h"
#include "labels/label_text.h"
#include "names/label_words.h"

enum { LIST_BYTES = 900 };

#define ARE_LABELS "integers, whole floats, bools, or text"

/* ---- What a value says ---- */

static int get_text(struct pq_cursor *cursor, const struct pq_value *value,
		    struct pq_label *out, char why[PQ_WHY_BYTES])
{
	uint64_t n = value->prefix_length + value->place.length;
	int64_t number;
	int err;

	snprintf(why, PQ_WHY_BYTES, "text that names no class: %" PRIu64 " bytes", n);
	if (n > ROW_NAME_BYTES)
		return -EDOM;
	err = pq_cursor_read(cursor, value, out->text, (size_t)n);
	if (err)
		return err;
	out->text[n] = '\0';
	out->none = label_text_read(out->text, (size_t)n, &number) == LABEL_TEXT_NONE;
	out->in_words = true;
	return memchr(out->text, '\0', (size_t)n) ? -EDOM : 0;
}

static int get_float(double value, struct pq_label *out, char why[PQ_WHY_BYTES])
{
	out->none = value != value;
	if (out->none || ieee_whole(value, &out->number))
		return 0;
	snprintf(why, PQ_WHY_BYTES, "a label that is no whole number, %g", value);
	return -EDOM;
}

int pq_label_read(struct pq_cursor *cursor, const struct pq_value *value, struct pq_label *out,
		  char why[PQ_WHY_BYTES])
{
	const struct pq_column *column = cursor->pages.column;

	*out = (struct pq_label){ .none = value->null, .number = (int64_t)value->number };
	if (value->null)
		return 0;
	if (column->type == PQ_BYTES)
		return get_text(cursor, value, out, why);
	if (column->type == PQ_FLOAT || column->type == PQ_DOUBLE)
		return get_float(ieee_value(value->number, column->type == PQ_FLOAT ? 4 : 8), out,
				 why);
	if (column->type == PQ_INT32 && !column->is_unsigned)
		out->number = (int32_t)value->number;
	if (column->type != PQ_INT64 || !column->is_unsigned || out->number >= 0)
		return 0;
	snprintf(why, PQ_WHY_BYTES, "a label that is larger than %" PRId64, INT64_MAX);
	return -EDOM;
}

/* ---- Which column ---- */

bool pq_column_can_label(const struct pq_column *column)
{
	return column->repetition == 0 && column->type != PQ_INT96 && column->type != PQ_FIXED &&
	       (column->type != PQ_BYTES || column->text);
}

/* "image.path" of Hugging Face says where its image was. */
static bool is_path(const struct pq_column *column)
{
	const char *dot = strrchr(column->name, '.');

	return dot && strcmp(dot, ".path") == 0;
}

static int refuse_labels(struct pq_file *file, const char *name)
{
	char list[LIST_BYTES];

	pq_file_list(file, list, sizeof(list));
	if (!pq_file_find(file, name))
		return row_labels_refuse_name(file->scan, file->e, "column", list);
	return pq_refuse(file, "has no labels in its column '%.100s': they are " ARE_LABELS "; its "
			       "columns are: %s", name, list);
}

/* Are all values labels? Leaves why not. */
static int try_labels(struct pq_file *file, const struct pq_column *column, bool *unfit,
		      char why[PQ_WHY_BYTES])
{
	struct pq_cursor cursor;
	struct pq_value value;
	struct pq_label label;
	int err = pq_cursor_open(&cursor, file, column);

	for (size_t i = 0; i < file->groups.count && !err; i++) {
		err = pq_cursor_begin(&cursor, &file->groups.items[i]);
		for (uint64_t row = 0; row < file->groups.items[i].rows && !err; row++) {
			err = pq_cursor_next(&cursor, &value);
			if (!err)
				err = pq_label_read(&cursor, &value, &label, why);
		}
	}
	pq_cursor_close(&cursor);
	*unfit = err == -EDOM;
	return *unfit ? 0 : err;
}

/* Floats may be what no label is, and nobody has said that they are: looks. */
static int inspect_labels(struct pq_file *file, const struct pq_column *column, bool *unfit)
{
	char why[PQ_WHY_BYTES] = "";
	int err;

	if (column->type != PQ_FLOAT && column->type != PQ_DOUBLE)
		return 0;
	err = try_labels(file, column, unfit, why);
	if (!err && *unfit)
		findings_add(file->scan->findings, FINDING_CHOSEN,
			     "no labels are taken from the column '%.60s', which has %s: they are "
			     ARE_LABELS "; labels=NAME says which column holds them", column->name,
			     why);
	return err;
}

static int inspect_column(void *context, size_t column, bool *unfit)
{
	struct pq_file *file = context;

	return inspect_labels(file, &file->columns.items[column], unfit);
}

static void describe_column(const struct pq_column *column, struct label_column_facts *out)
{
	out->name = column->name;
	out->can_label = pq_column_can_label(column) && !is_path(column);
	out->integers = (column->type == PQ_INT32 || column->type == PQ_INT64) &&
			column->repetition == 0;
}

static int guess_labels(struct pq_file *file, const struct pq_column **out)
{
	const struct pq_column *columns = file->columns.items;
	size_t n = file->columns.count;
	CLEANUP(cleanup_free) struct label_column_facts *facts = calloc(n + 1, sizeof(*facts));
	struct label_column_choice best;
	int err;

	if (!facts)
		return pq_no_memory(file);
	for (size_t i = 0; i < n; i++)
		describe_column(&columns[i], &facts[i]);
	row_labels_note_classes(file->notes, file->notes_size, facts, n);
	err = row_labels_choose(facts, n, inspect_column, file, &best);
	if (err)
		return err;
	*out = best.taken >= 0 ? &columns[best.taken] : NULL;
	if (best.other >= 0)
		row_labels_report(file->scan, "column", *out ? (*out)->name : NULL,
				  columns[best.other].name);
	return 0;
}

static void report_splits(const struct pq_file *file, const struct pq_column *labels)
{
	for (size_t i = 0; i < file->columns.count; i++) {
		const struct pq_column *column = &file->columns.items[i];
		const char *dot = strrchr(column->name, '.');

		if (column != labels && pq_column_can_label(column) &&
		    name_may_say_split(dot ? dot + 1 : column->name))
			row_labels_report_split(file->scan, "row", column->name);
	}
}

int pq_labels_choose(struct pq_file *file, const struct pq_column **out)
{
	const char *name = file->scan->rows->labels;
	int err = 0;

	*out = NULL;
	if (!name)
		err = guess_labels(file, out);
	else
		*out = pq_file_find(file, name);
	if (name && (!*out || !pq_column_can_label(*out)))
		return refuse_labels(file, name);
	if (!err)
		report_splits(file, *out);
	return err;
}
