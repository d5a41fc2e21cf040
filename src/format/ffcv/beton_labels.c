/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/ffcv/beton_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/ieee.h"
#include "base/text.h"
#include "build/findings.h"
#include "format/row_labels.h"

enum { LIST_BYTES = 900, NUMBER_BYTES = 8 };

void beton_list_fields(const struct beton_file *file, char *text, size_t room)
{
	*text = '\0';
	for (size_t i = 0; i < file->fields.count; i++)
		buffer_print(text, room, "%s%s (%s)", i ? ", " : "", file->fields.items[i].name,
			     beton_type_name(file->fields.items[i].type));
}

static bool can_label(const struct beton_field *field)
{
	return field->type == BETON_INT || field->type == BETON_FLOAT;
}

/* 0; 1: it is no whole number, nor NaN; or an error that was told. */
static int read_label(struct beton_file *file, const struct beton_field *labels,
		      uint64_t sample, int64_t *out)
{
	unsigned char bytes[NUMBER_BYTES];
	int err = beton_read(file, sample, labels, bytes, sizeof(bytes));
	uint64_t bits = little_endian(bytes, sizeof(bytes));
	double value;

	if (err)
		return err;
	*out = (int64_t)bits;
	if (labels->type == BETON_INT)
		return 0;
	value = ieee_value(bits, sizeof(bytes));
	if (value != value)
		*out = SAMPLE_UNLABELLED;
	return value == value && !ieee_whole(value, out);
}

int beton_label_read(struct beton_file *file, const struct beton_field *labels, uint64_t sample,
		     int64_t *out)
{
	int r = read_label(file, labels, sample, out);

	if (r > 0)
		return beton_refuse(file, "has a label that is no whole number in '%s', sample %"
					  PRIu64 "; choose another field with labels=NAME, or -o "
					  "view=tree, which shows no classes", labels->name, sample);
	return r;
}

/* Floats that nobody named may be no labels: looks at all. */
static int inspect_floats(void *context, size_t column, bool *unfit)
{
	struct beton_file *file = context;
	const struct beton_field *labels = &file->fields.items[column];
	int64_t number;
	int r = 0;

	for (uint64_t i = 0; labels->type == BETON_FLOAT && i < file->samples && !r; i++)
		r = read_label(file, labels, i, &number);
	*unfit = r > 0;
	if (*unfit)
		findings_add(file->scan->findings, FINDING_CHOSEN,
			     "no labels are taken from '%s', which has numbers that are not whole",
			     labels->name);
	return *unfit ? 0 : r;
}

static int refuse_labels(struct beton_file *file, const char *name)
{
	char list[LIST_BYTES];

	beton_list_fields(file, list, sizeof(list));
	return beton_refuse(file, "has no field '%.100s' of ints or floats for the labels; its fields "
				  "are: %s; name one of them with labels=NAME", name, list);
}

static int find_named(struct beton_file *file, const char *name, const struct beton_field **out)
{
	for (size_t i = 0; i < file->fields.count && !*out; i++)
		if (can_label(&file->fields.items[i]) &&
		    strcmp(file->fields.items[i].name, name) == 0)
			*out = &file->fields.items[i];
	return *out ? 0 : refuse_labels(file, name);
}

static int find_by_rules(struct beton_file *file, const struct beton_field **out)
{
	const struct beton_field *items = file->fields.items;
	size_t n = file->fields.count;
	CLEANUP(cleanup_free) struct label_column_facts *facts = calloc(n + 1, sizeof(*facts));
	struct label_column_choice best;
	int err;

	if (!facts)
		return beton_no_memory(file);
	for (size_t i = 0; i < n; i++)
		facts[i] = (struct label_column_facts){ .name = items[i].name,
							.can_label = can_label(&items[i]) };
	err = row_labels_choose(facts, n, inspect_floats, file, &best);
	if (err)
		return err;
	*out = best.taken >= 0 ? &items[best.taken] : NULL;
	if (best.other >= 0)
		row_labels_report(file->scan, "field", *out ? (*out)->name : NULL,
				  items[best.other].name);
	return 0;
}

int beton_labels_choose(struct beton_file *file, const struct beton_field **out)
{
	const char *name = file->scan->rows->labels;

	*out = NULL;
	if (file->scan->rows->tree)
		return 0;
	return name ? find_named(file, name, out) : find_by_rules(file, out);
}
