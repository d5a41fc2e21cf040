/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tfrecord/tf_labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/findings.h"
#include "format/row_labels.h"
#include "names/label_words.h"

enum { LIST_BYTES = 900 };

#define ARE_LABELS "integers, whole floats, one-hot lists, or text"

/* ---- What a feature says ---- */

static int get_number(const struct tf_feature *feature, struct tf_label *out,
		      char why[TF_WHY_BYTES])
{
	const struct one_hot *hot = &feature->hot;

	if (feature->count == 1) {
		out->none = feature->nan;
		out->number = feature->number;
		if (feature->nan || feature->whole)
			return 0;
		snprintf(why, TF_WHY_BYTES, "a label that is no whole number");
		return -EDOM;
	}
	out->none = !hot->odd && !hot->found;
	out->number = hot->label;
	if (out->none || one_hot_is(hot))
		return 0;
	snprintf(why, TF_WHY_BYTES, "a label of %" PRIu64 " values that is not one-hot",
		 feature->count);
	return -EDOM;
}

static int get_text(struct tf_file *file, const struct tf_feature *feature,
		    struct tf_label *out, char why[TF_WHY_BYTES])
{
	size_t n = (size_t)feature->length;
	int64_t number;
	int err;

	snprintf(why, TF_WHY_BYTES, "text that names no class: %" PRIu64 " values, the first of %"
				    PRIu64 " bytes", feature->count, feature->length);
	if (feature->count > 1 || feature->length > TF_CLASS_BYTES)
		return -EDOM;
	err = leap_reader_read(&file->reader, out->text, n, feature->at);
	if (err)
		return err;
	out->text[n] = '\0';
	out->none = label_text_read(out->text, n, &number) == LABEL_TEXT_NONE;
	out->in_words = true;
	return memchr(out->text, '\0', n) ? -EDOM : 0;
}

int tf_label_read(struct tf_file *file, const struct tf_feature *feature,
		  struct tf_label *out, char why[TF_WHY_BYTES])
{
	*out = (struct tf_label){ .none = feature->count == 0 };
	if (out->none)
		return 0;
	return feature->kind == TF_BYTES ? get_text(file, feature, out, why) :
					   get_number(feature, out, why);
}

/* ---- Which column ---- */

/* In each record one of several: "image/object/bbox/label" is a box's. */
static bool is_of_object(const char *key)
{
	return strstr(key, "object/") || strstr(key, "bbox/") || strstr(key, "objects/");
}

static bool can_label(const struct tf_column *column)
{
	if (column->odd || column->kind == TF_NONE)
		return false;
	return column->kind != TF_BYTES || (column->text && !column->several);
}

static int refuse_labels(struct tf_file *file, const struct tf_columns *columns, const char *name)
{
	const struct tf_column *column = tf_columns_find(columns, name);
	char list[LIST_BYTES];

	tf_columns_list(columns, list, sizeof(list));
	if (!column)
		return row_labels_refuse_name(file->scan, file->e, "feature", list);
	return tf_refuse(file, "has no labels in its feature '%.100s': they are " ARE_LABELS "; its "
			       "features are: %s", name, list);
}

struct fit_walk {
	struct tf_file *file;
	const struct tf_column *column;
	bool unfit;
	char why[TF_WHY_BYTES];
};

static int try_label(void *context, const struct tf_feature *feature)
{
	struct fit_walk *walk = context;
	struct tf_label label;
	int err;

	if (walk->unfit || strcmp(feature->key, walk->column->key) != 0)
		return 0;
	err = tf_label_read(walk->file, feature, &label, walk->why);
	walk->unfit = err == -EDOM;
	return walk->unfit ? 0 : err;
}

/* Floats and lists may be no labels, and nobody has said that they are: looks at all. */
static int inspect_labels(struct tf_file *file, const struct tf_column *column, bool *unfit)
{
	struct fit_walk walk = { .file = file, .column = column };
	struct tf_record record;
	int r = 1;

	if (column->kind == TF_BYTES || (column->kind == TF_INTEGERS && !column->several))
		return 0;
	tf_file_rewind(file);
	while (!walk.unfit && (r = tf_file_next(file, &record)) > 0) {
		r = tf_example_visit(file, &record, try_label, &walk);
		if (r < 0)
			return r;
	}
	*unfit = walk.unfit;
	if (walk.unfit)
		findings_add(file->scan->findings, FINDING_CHOSEN,
			     "no labels are taken from '%.60s', which has %s: they are " ARE_LABELS
			     "; labels=NAME says which feature holds them", column->key, walk.why);
	return r < 0 ? r : 0;
}

/* "image/class/synset" beside "image/class/label", or NULL. */
static const struct tf_column *find_beside(const struct tf_columns *columns,
					   const struct tf_column *labels, const char *word)
{
	size_t n = (size_t)(tf_key_word(labels->key) - labels->key);

	for (size_t i = 0; i < columns->items.count && n; i++) {
		const struct tf_column *column = &columns->items.items[i];

		if (strncmp(column->key, labels->key, n) == 0 && column->kind == TF_BYTES &&
		    can_label(column) && strcmp(column->key + n, word) == 0)
			return column;
	}
	return NULL;
}

/*
 * Numbers beside wnids: these name their classes. Texts may be the same of two classes
 * (ImageNet has two of "crane"), so they are only told of.
 */
static void take_names(const struct tf_file *file, const struct tf_columns *columns,
		       const struct tf_column **labels)
{
	const struct tf_column *numbers = *labels;
	const struct tf_column *wnids = find_beside(columns, numbers, "synset");
	const struct tf_column *texts = find_beside(columns, numbers, "text");

	if (numbers->kind == TF_BYTES)
		return;
	if (wnids) {
		*labels = wnids;
		findings_add(file->scan->findings, FINDING_USUAL,
			     "classes are called as '%.60s' says; labels=%.60s takes the numbers "
			     "instead", wnids->key, numbers->key);
	} else if (texts) {
		findings_add(file->scan->findings, FINDING_USUAL,
			     "classes are the numbers of '%.60s'; labels=%.60s takes the texts "
			     "beside them", numbers->key, texts->key);
	}
}

static bool is_beside(const struct tf_column *a, const struct tf_column *b)
{
	size_t n = (size_t)(tf_key_word(a->key) - a->key);

	return n && (size_t)(tf_key_word(b->key) - b->key) == n &&
	       strncmp(a->key, b->key, n) == 0;
}

/* Of features under no usual name: "class/id", "class_text". */
static void report_possible(const struct tf_file *file, const struct tf_columns *columns,
			    const struct label_column_facts *facts)
{
	for (size_t i = 0; i < columns->items.count; i++) {
		const struct tf_column *column = &columns->items.items[i];

		if (facts[i].can_label && !facts[i].unfit &&
		    name_hints_label(column->key)) {
			row_labels_report(file->scan, "feature", NULL, column->key);
			return;
		}
	}
}

struct column_inspection {
	struct tf_file *file;
	const struct tf_columns *columns;
};

static int inspect_column(void *context, size_t column, bool *unfit)
{
	struct column_inspection *inspection = context;

	return inspect_labels(inspection->file, &inspection->columns->items.items[column], unfit);
}

static int choose_by_rules(struct tf_file *file, const struct tf_columns *columns,
			   struct label_column_facts *facts, const struct tf_column **out)
{
	struct column_inspection inspection = { file, columns };
	const struct tf_column *items = columns->items.items, *other;
	struct label_column_choice best;
	int err = row_labels_choose(facts, columns->items.count, inspect_column, &inspection,
				    &best);

	if (err)
		return err;
	*out = best.taken >= 0 ? &items[best.taken] : NULL;
	other = best.other >= 0 ? &items[best.other] : NULL;
	if (other && (!*out || !is_beside(*out, other)))
		row_labels_report(file->scan, "feature", *out ? (*out)->key : NULL, other->key);
	else if (!other && !*out)
		report_possible(file, columns, facts);
	if (*out)
		take_names(file, columns, out);
	return 0;
}

static int guess_labels(struct tf_file *file, const struct tf_columns *columns,
			const struct tf_column **out)
{
	struct label_column_facts *facts = calloc(columns->items.count + 1, sizeof(*facts));
	int err;

	if (!facts)
		return tf_no_memory(file);
	for (size_t i = 0; i < columns->items.count; i++) {
		const struct tf_column *column = &columns->items.items[i];

		facts[i].name = tf_key_word(column->key);
		facts[i].can_label = can_label(column) && !is_of_object(column->key);
	}
	err = choose_by_rules(file, columns, facts, out);
	free(facts);
	return err;
}

/* Words under the name of splits, and numbers: they do not part the rows here. */
static void report_splits(const struct tf_file *file, const struct tf_columns *columns,
			  const struct tf_column *labels)
{
	for (size_t i = 0; i < columns->items.count; i++) {
		const struct tf_column *column = &columns->items.items[i];

		if (column != labels && can_label(column) &&
		    name_may_say_split(tf_key_word(column->key)))
			row_labels_report_split(file->scan, "record", column->key);
	}
}

int tf_labels_choose(struct tf_file *file, const struct tf_columns *columns,
		     const struct tf_column **out)
{
	const char *name = file->scan->rows->labels;
	int err = 0;

	*out = NULL;
	if (!name)
		err = guess_labels(file, columns, out);
	else
		*out = tf_columns_find(columns, name);
	if (!err && name && (!*out || !can_label(*out)))
		return refuse_labels(file, columns, name);
	report_splits(file, columns, *out);
	return err;
}
