/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_label_order.c: where ImageFolder's numbers of classes are not the labels. */
#include <inttypes.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "view/view_parts.h"

/* How to have the labels' own order */
#define REMEDY "-o classes=FILE of names that sort as the labels do, such as 0000, 0001 (one a " \
	       "line), keeps them"

/* The first label whose name comes before that of the one before it; NULL: none. */
static const struct label_name *first_out_of_order(const struct array *array)
{
	for (size_t i = 1; i < array->names.count; i++)
		if (strcmp(array->names.items[i - 1].name, array->names.items[i].name) >= 0)
			return &array->names.items[i];
	return NULL;
}

/* Of the first split that has not all labels. */
static void label_order_note_missing(const struct view *view)
{
	size_t n = view->labels.count;

	for (size_t i = 0; i < view->arrays.count; i++) {
		const struct array *array = &view->arrays.items[i];
		size_t has = array->labels.count;

		if (array->form != FORM_CLASSES || has == 0 || has == n)
			continue;
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "/%.60s has rows of only %zu of the %zu labels: ImageFolder "
			     "numbers its classes otherwise than in the other splits",
			     array->directory, has, n);
		return;
	}
}

/* Of the first array whose names are not in order. */
static void note_order(const struct view *view)
{
	for (size_t i = 0; i < view->arrays.count; i++) {
		const struct array *array = &view->arrays.items[i];
		const struct label_name *b = first_out_of_order(array), *a;

		if (array->form != FORM_CLASSES || !b)
			continue;
		a = b - 1;
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "label %" PRId64 " is called '%.20s' and label %" PRId64 " "
			     "'%.20s': ImageFolder numbers classes by their names, so "
			     "its numbers are others; " REMEDY, a->label, a->name,
			     b->label, b->name);
		return;
	}
}

/* The first that is shown in classes; there is one where there are labels. */
static const struct array *first_in_classes(const struct view *view)
{
	const struct array *array = view->arrays.items;

	while (array->form != FORM_CLASSES || array->labels.count == 0)
		array++;
	return array;
}

/* Of all labels together. */
static void note_numbers(const struct view *view)
{
	size_t n = view->labels.count;
	const int64_t *labels = view->labels.items;

	if (n == 1 && labels[0] != 0)
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "the only label is %" PRId64 ": ImageFolder's class number "
			     "is 0", labels[0]);
	else if (n && (labels[0] != 0 || labels[n - 1] != (int64_t)n - 1))
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "the %zu labels are not 0 to %zu: ImageFolder's class "
			     "numbers are others", n, n - 1);
}

/* A list that is longer than its labels may begin with a name that is none of theirs. */
static void note_extra_names(const struct view *view)
{
	const struct array *array = first_in_classes(view);
	int64_t last = view->labels.items[view->labels.count - 1];
	struct class_list_labels has;

	if (array->names_from != NAMES_OF_LIST)
		return;
	class_list_labels(view->config.classes, &has);
	if (has.ordered && has.first == 0 && !view->has_0)
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "no row has the label 0, and %s is taken to begin with its name "
			     "('%.40s'): lines with their labels (1: NAME) leave no doubt",
			     filename_of(view->config.classes_path),
			     class_list_name(view->config.classes, 0));
	if (has.ordered && has.last > last)
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "%.60s has %zu names, and the labels end with %" PRId64 ": "
			     "the names behind that are not used; lines with their "
			     "labels (0: NAME) leave no doubt",
			     filename_of(view->config.classes_path),
			     class_list_count(view->config.classes), last);
}

void view_report_label_order(const struct view *view)
{
	if (view->has_texts && view->labels.count)
		findings_add(view->config.findings, FINDING_CHOSEN,
			     "some labels are numbers, and others names, so one class may be "
			     "two directories; mount the files apart, or see -o view=tree");
	if (view->has_texts)
		return;
	if (view->labels.count && view->config.classes)
		note_extra_names(view);
	note_numbers(view);
	note_order(view);
	label_order_note_missing(view);
}
