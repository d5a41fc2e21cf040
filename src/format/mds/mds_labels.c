/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/mds/mds_labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ieee.h"
#include "build/findings.h"
#include "format/row_labels.h"
#include "labels/label_text.h"
#include "names/label_words.h"

enum { LIST_BYTES = 900, NUMBER_MOST = 8 };

#define ARE_LABELS "integers, whole floats, or text"

/* ---- What a value says ---- */

int mds_text_read(struct mds_shard *shard, const struct mds_column *column,
		  char out[MDS_TEXT_BYTES + 1])
{
	struct mds_value value = mds_shard_value(shard, column);
	int err;

	if (value.length > MDS_TEXT_BYTES)
		return -EDOM;
	err = value.length ? leap_reader_read(&shard->reader, out, (size_t)value.length, value.at) :
			     0;
	if (err)
		return mds_refuse_read(shard, err);
	out[value.length] = '\0';
	return strlen(out) == value.length ? (int)value.length : -EDOM;
}

static int get_text(struct mds_shard *shard, const struct mds_column *column,
		    struct mds_label *out, char why[MDS_WHY_BYTES])
{
	int n = mds_text_read(shard, column, out->text);
	enum label_text kind;

	if (n == -EDOM)
		snprintf(why, MDS_WHY_BYTES, "text of %" PRIu64 " bytes, which names no class",
			 mds_shard_value(shard, column).length);
	if (n < 0)
		return n;
	kind = label_text_read(out->text, (size_t)n, &out->number);
	out->none = kind == LABEL_TEXT_NONE;
	out->in_words = column->kind == MDS_TEXT;
	if (out->none || out->in_words || label_text_is_number(kind))
		return 0;
	snprintf(why, MDS_WHY_BYTES, "a label that is no whole number");
	return -EDOM;
}

static int64_t sign_extended(uint64_t bits, unsigned bytes)
{
	unsigned unused = 8 * (NUMBER_MOST - bytes);

	return (int64_t)(bits << unused) >> unused;
}

/* The lowest number is SAMPLE_UNLABELLED, as labels below 0 are none. */
static int get_integer(const struct mds_column *column, uint64_t bits, unsigned bytes,
		       struct mds_label *out, char why[MDS_WHY_BYTES])
{
	out->number = column->is_signed ? sign_extended(bits, bytes) : (int64_t)bits;
	if (column->is_signed || out->number >= 0)
		return 0;
	snprintf(why, MDS_WHY_BYTES, "a number beyond 63 bits");
	return -EDOM;
}

static int get_number(struct mds_shard *shard, const struct mds_column *column,
		      struct mds_label *out, char why[MDS_WHY_BYTES])
{
	struct mds_value value = mds_shard_value(shard, column);
	unsigned bytes = (unsigned)value.length;
	unsigned char stored[NUMBER_MOST];
	uint64_t bits;
	double real;
	int err = leap_reader_read(&shard->reader, stored, bytes, value.at);

	if (err)
		return mds_refuse_read(shard, err);
	bits = little_endian(stored, bytes);
	if (column->kind == MDS_INTEGER)
		return get_integer(column, bits, bytes, out, why);
	real = ieee_value(bits, bytes);
	out->none = real != real;
	if (out->none || ieee_whole(real, &out->number))
		return 0;
	snprintf(why, MDS_WHY_BYTES, "a label that is no whole number");
	return -EDOM;
}

int mds_label_read(struct mds_shard *shard, const struct mds_column *column,
		   struct mds_label *out, char why[MDS_WHY_BYTES])
{
	*out = (struct mds_label){ .none = false };
	return column->kind == MDS_INTEGER || column->kind == MDS_FLOAT ?
		       get_number(shard, column, out, why) :
		       get_text(shard, column, out, why);
}

/* ---- Which column ---- */

static bool can_label(const struct mds_column *column)
{
	return column->kind == MDS_INTEGER || column->kind == MDS_FLOAT ||
	       column->kind == MDS_TEXT || column->kind == MDS_DIGITS;
}

static int refuse_labels(struct mds_shard *shard, const char *name)
{
	char list[LIST_BYTES];

	mds_columns_list(&shard->columns, list, sizeof(list));
	if (!mds_columns_find(&shard->columns, name))
		return mds_refuse(shard, "has no column '%.100s' for the labels; its columns are: %s; "
					 "name one of them with labels=NAME", name, list);
	return mds_refuse(shard, "has no labels in its column '%.100s': they are " ARE_LABELS "; its "
				 "columns are: %s", name, list);
}

/* Any integer of up to 63 bits is a label. */
static bool are_labels(const struct mds_column *column)
{
	return column->kind == MDS_INTEGER && (column->is_signed || column->width < NUMBER_MOST);
}

/* Others may be no labels, and nobody has said that they are: looks at all. */
static int inspect_labels(void *context, size_t number, bool *unfit)
{
	struct mds_shard *shard = context;
	const struct mds_column *column = &shard->columns.items.items[number];
	char why[MDS_WHY_BYTES];
	struct mds_label label;
	int err = 0;

	for (uint32_t i = 0; i < shard->samples && !are_labels(column) && !err; i++) {
		err = mds_shard_sample(shard, i);
		if (!err)
			err = mds_label_read(shard, column, &label, why);
	}
	if (err != -EDOM)
		return err;
	*unfit = true;
	findings_add(shard->scan->findings, FINDING_CHOSEN,
		     "no labels are taken from '%.60s', which has %s: they are " ARE_LABELS
		     "; labels=NAME says which column holds them", column->name, why);
	return 0;
}

/* Of columns under no usual name: "class_text". */
static void report_possible(const struct mds_shard *shard,
			    const struct label_column_facts *facts)
{
	for (size_t i = 0; i < shard->columns.items.count; i++)
		if (facts[i].can_label && !facts[i].unfit && name_hints_label(facts[i].name)) {
			row_labels_report(shard->scan, "column", NULL, facts[i].name);
			return;
		}
}

/* Of tuples without names the one integer, beside images: (image, label). */
static const struct mds_column *find_number(const struct mds_shard *shard)
{
	const struct mds_column *found = NULL;

	for (size_t i = 0; i < shard->columns.items.count && shard->columns.unnamed; i++) {
		const struct mds_column *column = &shard->columns.items.items[i];

		if (column->kind != MDS_INTEGER && column->kind != MDS_DIGITS)
			continue;
		if (found)
			return NULL;
		found = column;
	}
	return found;
}

static int choose_by_rules(struct mds_shard *shard, struct label_column_facts *facts,
			   const struct mds_column **out)
{
	const struct mds_column *items = shard->columns.items.items;
	struct label_column_choice best;
	int err = row_labels_choose(facts, shard->columns.items.count, inspect_labels, shard,
				    &best);

	if (err)
		return err;
	*out = best.taken >= 0 ? &items[best.taken] : find_number(shard);
	if (best.other >= 0)
		row_labels_report(shard->scan, "column", *out ? (*out)->name : NULL,
				  items[best.other].name);
	else if (!*out)
		report_possible(shard, facts);
	return 0;
}

static int guess_labels(struct mds_shard *shard, const struct mds_column **out)
{
	size_t n = shard->columns.items.count;
	struct label_column_facts *facts = calloc(n + 1, sizeof(*facts));
	int err;

	if (!facts)
		return mds_no_memory(shard);
	for (size_t i = 0; i < n; i++) {
		facts[i].name = shard->columns.items.items[i].name;
		facts[i].can_label = can_label(&shard->columns.items.items[i]);
	}
	err = choose_by_rules(shard, facts, out);
	free(facts);
	return err;
}

static void report_splits(const struct mds_shard *shard, const struct mds_column *labels)
{
	for (size_t i = 0; i < shard->columns.items.count; i++) {
		const struct mds_column *column = &shard->columns.items.items[i];

		if (column != labels && can_label(column) && name_may_say_split(column->name))
			row_labels_report_split(shard->scan, "sample", column->name);
	}
}

int mds_labels_choose(struct mds_shard *shard, const struct mds_column **out)
{
	const char *name = shard->scan->rows->labels;
	int err = 0;

	*out = NULL;
	if (!name)
		err = guess_labels(shard, out);
	else
		*out = mds_columns_find(&shard->columns, name);
	if (!err && name && (!*out || !can_label(*out)))
		return refuse_labels(shard, name);
	report_splits(shard, *out);
	return err;
}
