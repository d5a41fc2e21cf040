/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_classes.c: what the directories of classes are called. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/unique.h"
#include "build/findings.h"
#include "labels/label_text.h"
#include "view/view_parts.h"

/* ---- Which there are ---- */

static int view_compare_numbers(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int view_compare_label_names(const void *left, const void *right)
{
	const struct label_name *a = left, *b = right;

	return view_compare_numbers(&a->label, &b->label);
}

int view_compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t sort_labels(int64_t *labels, size_t n)
{
	return unique_sort(labels, n, sizeof(*labels), view_compare_numbers);
}

static size_t sort_texts(const char **texts, size_t n)
{
	return unique_sort(texts, n, sizeof(*texts), view_compare_texts);
}

static int push_label(struct array *array, int64_t label, size_t *compact_at)
{
	size_t n = array->labels.count;

	if (n && array->labels.items[n - 1] == label)
		return 0;
	array->labels.count = unique_compact(array->labels.items, n, sizeof(label),
					     view_compare_numbers, compact_at);
	return vec_push(&array->labels, label);
}

static int classes_push_text(struct array *array, const char *text, size_t *compact_at)
{
	size_t n = array->texts.count;

	if (n && array->texts.items[n - 1] == text)
		return 0;
	array->texts.count = unique_compact(array->texts.items, n, sizeof(text),
					    view_compare_texts, compact_at);
	return vec_push(&array->texts, text);
}

static int collect_of(struct array *array)
{
	size_t thin_labels = UNIQUE_COMPACT_AT, thin_texts = UNIQUE_COMPACT_AT;
	struct rows rows = { .array = array };
	struct row row;
	int err = 0;

	while (!err && view_next_row(&rows, &row)) {
		const char *text = view_class_text(array, &row);
		int64_t label;

		if (text)
			err = classes_push_text(array, text, &thin_texts);
		else if (view_label(array, &row, &label))
			err = push_label(array, label, &thin_labels);
		else
			array->unlabelled++;
	}
	array->labels.count = sort_labels(array->labels.items, array->labels.count);
	array->texts.count = sort_texts(array->texts.items, array->texts.count);
	return err;
}

int view_collect_classes(struct view *view)
{
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++)
		err = collect_of(&view->arrays.items[i]);
	return err;
}

/* ---- Texts ---- */

/* The first text that is a fraction, if all of them are numbers; NULL: they are classes. */
static const char *find_fraction(const struct array *array)
{
	const char *fraction = NULL;

	for (size_t i = 0; i < array->texts.count; i++) {
		const char *text = array->texts.items[i];
		enum label_text kind;
		int64_t number;

		kind = label_text_read(text, strlen(text), &number);
		if (kind == LABEL_TEXT_FRACTION)
			fraction = text;
		else if (kind != LABEL_TEXT_NUMBER)
			return NULL;
	}
	return fraction;
}

void view_drop_fractions(struct view *view)
{
	for (size_t i = 0; i < view->arrays.count; i++) {
		struct array *array = &view->arrays.items[i];
		const char *fraction = array->one_class || array->form != FORM_CLASSES ?
					       NULL : find_fraction(array);

		if (!fraction || !array->source || array->keys.count)
			continue;
		findings_add(view->config.findings, FINDING_LEFT_OUT,
			     "'%.60s' of '%.60s' in '/%.60s' holds fractions ('%.30s'), which a "
			     "regression is trained on, and no classes: its rows are shown "
			     "without labels", array->source, array->name, array->split,
			     fraction);
		array->source = NULL;
		array->numbered = false;
		array->texts.count = array->labels.count = 0;
		array->unlabelled = 0;
		array->form = array->named ? FORM_NAMES : FORM_ROWS;
	}
}

/* Puts each text, and number, of an array into its class. */
static int respell(struct array *array, const struct spellings *spellings)
{
	size_t kept = 0;
	int err = 0;

	array->spellings = spellings;
	for (size_t i = 0; i < array->texts.count && !err; i++) {
		const char *text = array->texts.items[i];
		const struct spelling *spelling = spellings_get(spellings, text);

		if (!spelling || spelling->class)
			array->texts.items[kept++] = spelling ? spelling->class : text;
		else
			err = vec_push(&array->labels, spelling->number);
	}
	array->texts.count = sort_texts(array->texts.items, kept);
	array->labels.count = sort_labels(array->labels.items, array->labels.count);
	return err;
}

/* The texts of all arrays, and the numbers. */
static int find_spellings(struct view *view)
{
	VEC(const char *) texts = VEC_INIT;
	VEC(int64_t) labels = VEC_INIT;
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++) {
		const struct array *array = &view->arrays.items[i];

		for (size_t k = 0; k < array->texts.count && !err; k++)
			err = vec_push(&texts, array->texts.items[k]);
		for (size_t k = 0; k < array->labels.count && !err; k++)
			err = vec_push(&labels, array->labels.items[k]);
	}
	texts.count = sort_texts(texts.items, texts.count);
	labels.count = sort_labels(labels.items, labels.count);
	if (!err)
		err = spellings_find(texts.items, texts.count,
				     (struct number_labels){ labels.items, labels.count },
				     &view->arena, &view->spellings);
	vec_free(&texts);
	vec_free(&labels);
	return err;
}

int view_join_spellings(struct view *view)
{
	char text[SPELLINGS_TEXT_BYTES];
	int err = find_spellings(view);

	for (size_t i = 0; i < view->arrays.count && view->spellings.items.count && !err; i++)
		err = respell(&view->arrays.items[i], &view->spellings);
	if (!err && spellings_describe(&view->spellings, text))
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "%s; -o view=tree leaves labels alone", text);
	return err;
}

static int refuse_long(const struct array *array, const char *text, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: a class is called '%.60s...', which is too long for a "
			 "directory; show the samples as they are stored with -o view=tree", array->path,
			 text);
}

/* A text that cannot be a directory as it is, and what it becomes. */
struct odd_text {
	const char *safe, *text;
};

static int compare_odd(const void *left, const void *right)
{
	const struct odd_text *a = left, *b = right;
	int order = strcmp(a->safe, b->safe);

	return order ? order : strcmp(a->text, b->text);
}

/* One of two texts that would be the same directory, and *other; NULL: there are none. */
static const struct odd_text *find_clash(const struct array *array, struct odd_text *odd,
					 size_t n, const char **other)
{
	if (n)
		qsort(odd, n, sizeof(*odd), compare_odd);
	for (size_t i = 0; i < n; i++) {
		*other = odd[i].safe;
		if (bsearch(other, array->texts.items, array->texts.count, sizeof(*other),
			    view_compare_texts))
			return &odd[i];
		if (i && strcmp(odd[i].safe, odd[i - 1].safe) == 0) {
			*other = odd[i - 1].text;
			return &odd[i];
		}
	}
	return NULL;
}

static int classes_refuse_clash(const struct array *array, const struct odd_text *odd,
				const char *other, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: two classes would both be the directory '%.100s', '%.100s' "
			 "and '%.100s' of '%.100s' in '/%.100s'; show the samples as they are "
			 "stored with -o view=tree", array->path, odd->safe, other, odd->text,
			 array->source ? array->source : array->name, array->split);
}

/* Where a text cannot be a directory as it is, another must not become the same. */
static int check_texts(struct view *view, const struct array *array, struct error *e)
{
	VEC(struct odd_text) odd = VEC_INIT;
	char name[VIEW_COMPONENT_BYTES + 1];
	const struct odd_text *clash = NULL;
	const char *other;
	int err = 0;

	for (size_t i = 0; i < array->texts.count && !err; i++) {
		struct odd_text item = { .text = array->texts.items[i] };

		if (!view_safe_component(item.text, name)) {
			err = refuse_long(array, item.text, e);
		} else if (strcmp(item.text, name) != 0) {
			item.safe = arena_copy(&view->arena, name, strlen(name));
			if (!item.safe || vec_push(&odd, item) < 0)
				err = error_no_memory(e, NULL);
		}
	}
	if (!err)
		clash = find_clash(array, odd.items, odd.count, &other);
	if (clash)
		err = classes_refuse_clash(array, clash, other, e);
	vec_free(&odd);
	return err;
}

/* ---- Names of numbers ---- */

/* From the file itself, for all shards that have rows: NULL where one has none. */
static const char *name_in_file(const struct array *array, int64_t label)
{
	const char *name = NULL;

	for (size_t i = 0; i < array->pieces.count; i++) {
		const struct sample_group *group = array->pieces.items[i].group;

		if (group->rows == 0)
			continue;
		name = label >= 0 && (uint64_t)label < group->class_count ?
			       group->class_names[label] : NULL;
		if (!name)
			return NULL;
	}
	return name;
}

/* Shards that call a label otherwise: one directory would hold two classes. */
static int refuse_other_names(const struct array *array, struct error *e)
{
	const struct view_piece *first = NULL;

	for (size_t i = 0; i < array->pieces.count; i++) {
		const struct view_piece *piece = &array->pieces.items[i];
		size_t n = piece->group->class_count;

		if (n == 0 || piece->group->rows == 0)
			continue;
		if (!first)
			first = piece;
		for (size_t k = 0; k < n && k < first->group->class_count; k++) {
			const char *a = first->group->class_names[k];
			const char *b = piece->group->class_names[k];

			if (a && b && strcmp(a, b) != 0)
				return error_set(e, ERROR_DATASET, EBADMSG,
						 "%s: label %zu is called '%.60s', and '%.60s' "
						 "in '%.200s': mount each alone, name the "
						 "classes of both with -o classes=FILE, or see "
						 "the rows without labels with -o view=tree",
						 piece->path, k, b, a, first->path);
		}
	}
	return 0;
}

static const char *classes_name_of(const struct view *view, const struct array *array,
				   int64_t label)
{
	const struct label_name key = { .label = label }, *found;

	switch (array->names_from) {
	case NAMES_OF_LIST:
		return class_list_name(view->config.classes, label);
	case NAMES_OF_KEYS:
		found = bsearch(&key, view->key_names.items, view->key_names.count,
				sizeof(key), view_compare_label_names);
		return found ? found->name : NULL;
	case NAMES_OF_FILE:
		return name_in_file(array, label);
	case NAMES_ARE_NUMBERS:
		break;
	}
	return NULL;
}

/* A list may begin with the name of label 0 or of label 1, if no row has label 0. */
static bool begins_anywhere(const struct view *view, const struct sample_group *group)
{
	return group->classes_in_list && !view->has_0;
}

static enum names_from choose_names(const struct view *view, const struct array *array)
{
	bool named = false, sure = true;

	if (view->config.classes)
		return NAMES_OF_LIST;
	if (array->keys.count)
		return view->key_names.count ? NAMES_OF_KEYS : NAMES_ARE_NUMBERS;
	for (size_t i = 0; i < array->pieces.count; i++) {
		const struct sample_group *group = array->pieces.items[i].group;

		named |= group->class_count > 0;
		sure &= group->class_count == 0 || !begins_anywhere(view, group);
	}
	if (named && !sure)
		findings_add(view->config.findings, FINDING_LEFT_OUT,
			     "no row has the label 0, so the file's list of class names may "
			     "begin with the name of label 0 or of label 1: the classes keep "
			     "their numbers; -o classes=FILE of lines with their labels (1: "
			     "NAME) gives names");
	return named && sure ? NAMES_OF_FILE : NAMES_ARE_NUMBERS;
}

static int refuse_nameless(const struct view *view, const struct array *array,
			   int64_t label, struct error *e)
{
	struct class_list_labels has;

	if (array->names_from == NAMES_OF_LIST) {
		class_list_labels(view->config.classes, &has);
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s has no name for label %" PRId64 ", which '%.100s' in "
				 "'/%.100s' has; its %zu %ss are of labels %" PRId64 " to %" PRId64
				 "%s; is it the list of another dataset?",
				 view->config.classes_path, label, array->name, array->split,
				 class_list_count(view->config.classes), has.unit, has.first,
				 has.last, has.ordered ? "" : ", as it says itself (a "
				 "JSON list of its names, [\"a\", \"b\"], counts from 0 on)");
	}
	if (array->names_from == NAMES_OF_KEYS)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "no path in the maps of -o names= says what label %" PRId64
				 " of '/%.100s' is called; name the map of the training split "
				 "too, or a list with -o classes=", label, array->split);
	return error_set(e, ERROR_DATASET, EBADMSG, "label %" PRId64 " has no name in one of the "
			 "files", label);
}

static int classes_compare_names(const void *left, const void *right)
{
	const struct label_name *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : view_compare_label_names(left, right);
}

/* No two labels may be one directory. */
static int classes_check_names(const struct array *array, struct error *e)
{
	size_t n = array->names.count;
	CLEANUP(cleanup_free) struct label_name *sorted = calloc(n + 1, sizeof(*sorted));

	if (!sorted)
		return error_no_memory(e, NULL);
	memcpy(sorted, array->names.items, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), classes_compare_names);
	for (size_t i = 1; i < n; i++)
		if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "the labels %" PRId64 " and %" PRId64 " of '/%.100s' "
					 "would both be called '%.100s'; give a list without "
					 "repetition with -o classes=, or leave the names out",
					 sorted[i - 1].label, sorted[i].label, array->split,
					 sorted[i].name);
	return 0;
}

static int classes_add_name(struct view *view, struct array *array, int64_t label,
			    struct error *e)
{
	const char *name = classes_name_of(view, array, label);
	struct label_name item = { .label = label };
	char safe[VIEW_COMPONENT_BYTES + 1];

	if (!name)
		return refuse_nameless(view, array, label, e);
	if (!view_safe_component(name, safe))
		return refuse_long(array, name, e);
	item.name = arena_copy(&view->arena, safe, strlen(safe));
	return item.name && vec_push(&array->names, item) == 0 ? 0 :
			error_no_memory(e, NULL);
}

static int name_labels(struct view *view, struct array *array, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < array->labels.count && !err; i++)
		err = classes_add_name(view, array, array->labels.items[i], e);
	return err ? err : classes_check_names(array, e);
}

/* Class names of the file are used where they fit; those of the user must fit. */
static int name_array(struct view *view, struct array *array, struct error *e)
{
	struct error why = { 0 };
	int err;

	array->names_from = array->labels.count ? choose_names(view, array) :
						  NAMES_ARE_NUMBERS;
	if (array->names_from == NAMES_ARE_NUMBERS)
		return 0;
	if (array->names_from == NAMES_OF_FILE) {
		err = refuse_other_names(array, e);
		if (err)
			return err;
	}
	err = name_labels(view, array, &why);
	if (err == -EBADMSG && array->names_from == NAMES_OF_FILE) {
		findings_add(view->config.findings, FINDING_LEFT_OUT,
			     "the names of the classes in '/%.100s' are not used: %s",
			     array->split, why.text);
		array->names.count = 0;
		array->names_from = NAMES_ARE_NUMBERS;
		return 0;
	}
	view->classes_used |= array->names_from == NAMES_OF_LIST;
	if (err && e)
		*e = why;
	return err;
}

/* All classes of all arrays. */
static int count_classes(struct view *view)
{
	VEC(const char *) texts = VEC_INIT;
	bool nameless = false;
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++) {
		const struct array *array = &view->arrays.items[i];

		if (array->form != FORM_CLASSES)
			continue;
		for (size_t k = 0; k < array->texts.count && !err; k++)
			err = vec_push(&texts, array->texts.items[k]);
		view->has_texts |= array->texts.count > 0;
		nameless |= array->labels.count && array->names.count == 0;
		for (size_t k = 0; k < array->names.count && !err; k++)
			err = vec_push(&texts, array->names.items[k].name);
		for (size_t k = 0; k < array->labels.count && !err; k++)
			err = vec_push(&view->labels, array->labels.items[k]);
	}
	view->labels.count = sort_labels(view->labels.items, view->labels.count);
	view->named_classes = sort_texts(texts.items, texts.count);
	view->classes = view->named_classes + (nameless ? view->labels.count : 0);
	vec_free(&texts);
	return err;
}

/* "background", "__background__": no class of a dataset of images. */
static bool is_background(const char *name)
{
	static const char word[] = "background";
	size_t n = sizeof(word) - 1;

	name += strspn(name, "_");
	return strncasecmp(name, word, n) == 0 && name[n + strspn(name + n, "_")] == '\0';
}

/* A list of one name too many, which begins with one that detectors have: all are shifted. */
static int check_background(const struct view *view, struct error *e)
{
	const struct class_list *list = view->config.classes;
	struct class_list_labels has;
	const char *first;
	int64_t last;

	if (!view->classes_used || view->labels.count == 0)
		return 0;
	class_list_labels(list, &has);
	last = view->labels.items[view->labels.count - 1];
	first = class_list_name(list, 0);
	if (!has.ordered || has.last != last + 1 || !first || !is_background(first))
		return 0;
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s has %zu names, and the labels end with %" PRId64 ": its first %s, "
			 "'%s', may be none of theirs; remove it, or give each name its label "
			 "(0: %s)", view->config.classes_path, class_list_count(list), last,
			 has.unit, first, first);
}

int view_name_classes(struct view *view, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++) {
		struct array *array = &view->arrays.items[i];

		if (array->form != FORM_CLASSES)
			continue;
		err = check_texts(view, array, e);
		if (!err)
			err = name_array(view, array, e);
	}
	if (!err && count_classes(view) < 0)
		err = error_no_memory(e, NULL);
	return err ? err : check_background(view, e);
}

const char *view_class_directory(const struct view *view, const struct array *array,
				 const struct row *row, char out[VIEW_COMPONENT_BYTES + 1])
{
	const char *text = view_class_text(array, row);
	const struct label_name *found;
	struct label_name key;

	if (text)
		return view_safe_component(text, out) ? out : NULL;
	if (!view_label(array, row, &key.label))
		return NULL;
	if (array->names.count) {
		found = bsearch(&key, array->names.items, array->names.count, sizeof(key),
				view_compare_label_names);
		return found ? found->name : NULL;
	}
	snprintf(out, VIEW_COMPONENT_BYTES + 1, "%0*" PRId64, view->label_digits, key.label);
	return out;
}
