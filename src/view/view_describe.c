/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_describe.c: where paths, names and labels come from, for `granary info`. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/filename.h"
#include "base/text.h"
#include "build/findings.h"
#include "view/view_parts.h"

/* Sums over the arrays, or some of them. */
struct counts {
	uint64_t rows, named, keyed, unusable;
	bool classes, class_directories, labelled, maps_may_help;
	bool shards; /* of WebDataset, and several: their keys may be the same */
};

static struct counts describe_count(const struct view *view)
{
	struct counts counts = { 0 };
	bool labels = false;
	size_t end = 0;

	for (size_t i = 0; i < view->arrays.count; i++) {
		const struct array *array = &view->arrays.items[i];

		if (i == end)
			labels = view_split_has_labels(view, i, &end);
		counts.rows += array->rows;
		counts.named += array->named;
		counts.keyed += array->keys.count;
		counts.unusable += array->unusable;
		counts.class_directories |= array->class_directories;
		counts.maps_may_help |= view_wants_keys(array, labels);
		counts.labelled |= array->rows && (array->source || array->keys.count);
		counts.classes |= array->form == FORM_CLASSES;
		counts.shards |= array->in_words && !array->one_class &&
				 (array->pieces.count > 1 || view->arrays.count > 1);
	}
	return counts;
}

static void describe_view(const struct view *view, const struct counts *counts, char *out,
			  size_t room)
{
	const char *asked = view->config.kind == VIEW_CLASS ? "view=class" :
			    view->config.kind == VIEW_TREE ? "view=tree" : "auto";

	if (view->config.kind == VIEW_ARRAYS)
		snprintf(out, room, "arrays (view=arrays); view=auto: images and classes, where "
			 "there are any");
	else if (counts->classes)
		snprintf(out, room, "class (%s%s); view=tree%s: as they are stored",
			 view->config.kind == VIEW_CLASS ? asked :
							   "auto: the samples have labels",
			 view->config.kind != VIEW_CLASS && counts->class_directories ?
				 ", and some a directory for each" : "",
			 counts->shards ? " of one file" : "");
	else if (counts->labelled && view->config.kind != VIEW_TREE)
		snprintf(out, room,
			 "tree (auto: the names have a directory for each class); "
			 "view=class: by label");
	else if (counts->labelled)
		snprintf(out, room, "tree (view=tree); view=class: by label");
	else
		snprintf(out, room, "tree (%s: the samples have no labels)", asked);
}

static void describe_names(const struct view *view, const struct counts *counts, char *out,
			   size_t room)
{
	const char *between = "from ";

	*out = '\0';
	if (counts->keyed == 0 && counts->named == 0) {
		buffer_print(out, room,
			     "made from row numbers: the file holds no %snames%s",
			     counts->unusable ? "usable " : "",
			     counts->maps_may_help ? "; names=FILE gives some" : "");
		return;
	}
	if (counts->named) {
		buffer_print(out, room, "from the file");
		between = ", ";
	}
	for (size_t i = 0; i < view->config.name_count; i++) {
		if (!view->map_used[i])
			continue;
		buffer_print(out, room, "%s%.60s", between,
			     filename_of(view->config.names[i].path));
		between = ", ";
	}
	if (counts->named + counts->keyed < counts->rows)
		buffer_print(out, room, "; row numbers where there are none");
}

/* Arrays of one split may share their labels, and words are the same in all. */
static bool same_labels(const struct array *a, const struct array *b)
{
	return a && a->in_words == b->in_words && strcmp(a->source, b->source) == 0 &&
	       (a->in_words || strcmp(a->split, b->split) == 0);
}

/* "/train/targets, /val/targets", as far as there is room. */
static void list_labels(const struct view *view, char *text, size_t room)
{
	const struct array *last = NULL;

	*text = '\0';
	for (size_t i = 0; i < view->arrays.count; i++) {
		const struct array *array = &view->arrays.items[i];

		if (array->form != FORM_CLASSES || !array->source || same_labels(last, array))
			continue;
		buffer_print(text, room, "%s", *text ? ", " : "");
		if (array->in_words)
			buffer_print(text, room, "%s", array->source);
		else
			buffer_print(text, room, "/%s%s%s", array->split,
				     *array->split ? "/" : "", array->source);
		last = array;
	}
}

/* "0 to 9", "9 classes", or where rows have no text: "9 classes, and -1". */
static void add_range(const struct view *view, char *out, size_t room)
{
	const int64_t *labels = view->labels.items;
	size_t n = view->labels.count, texts = view->has_texts ? view->named_classes : 0;

	if (texts)
		buffer_print(out, room, ": %zu class%s", texts, texts == 1 ? "" : "es");
	if (texts && n)
		buffer_print(out, room, ", and ");
	else if (n)
		buffer_print(out, room, ": ");
	if (n == 1)
		buffer_print(out, room, "%" PRId64 "%s", labels[0], texts ? "" : " only");
	else if (n)
		buffer_print(out, room, "%" PRId64 " to %" PRId64, labels[0],
			     labels[n - 1]);
}

/* The names of the numbers, of the first array in classes. */
static void describe_class_names(const struct view *view, char *out, size_t room)
{
	for (size_t i = 0; i < view->arrays.count; i++) {
		const struct array *array = &view->arrays.items[i];

		if (array->form != FORM_CLASSES || array->names.count == 0)
			continue;
		if (array->names_from == NAMES_OF_LIST)
			buffer_print(out, room, ", called as in %.40s",
				     filename_of(view->config.classes_path));
		else if (array->names_from == NAMES_OF_KEYS)
			buffer_print(out, room, ", called as the maps' directories");
		else
			buffer_print(out, room, ", called as the file says");
		return;
	}
	if (view->labels.count && !view->has_texts)
		buffer_print(out, room, "; classes=FILE gives names");
}

static void describe_labels(const struct view *view, const struct counts *counts, char *out,
			    size_t room)
{
	char list[80];

	if (view->classes == 0) {
		snprintf(out, room, "none%s", view->config.kind == VIEW_TREE ? " (view=tree)" :
			 counts->labelled && counts->rows ? " are looked at" :
			 " in the file; labels=NAME says what holds some");
		return;
	}
	list_labels(view, list, sizeof(list));
	if (!*list)
		snprintf(list, sizeof(list), "the maps");
	snprintf(out, room, "%s", list);
	add_range(view, out, room);
	describe_class_names(view, out, room);
}

static void note_arrays(const struct view *view, struct findings *findings)
{
	for (size_t i = 0; i < view->arrays.count; i++) {
		const struct array *array = &view->arrays.items[i];

		if (array->prefix != PREFIX_NONE)
			findings_add(findings, FINDING_CHOSEN,
				     "in '/%.60s' names come more than once: each has "
				     "the number of its row before it", array->directory);
		if (array->form == FORM_CLASSES && array->unlabelled)
			findings_add(findings, FINDING_LEFT_OUT,
				     "in '/%.60s' %" PRIu64 " of %" PRIu64 " files have no label "
				     "(empty, null, NaN or below 0): they lie beside the "
				     "directories of classes, where ImageFolder does not see them",
				     array->directory, array->unlabelled, array->rows);
		if (array->unusable)
			findings_add(findings, FINDING_LEFT_OUT,
				     "in '/%.60s' %" PRIu64 " names can be no file's: "
				     "these rows have their numbers", array->directory,
				     array->unusable);
		if (view->config.name_count && array->rows && !array->named &&
		    array->keys.count == 0)
			findings_add(findings, FINDING_LEFT_OUT,
				     "names= has no names for '/%.60s': its rows have "
				     "their numbers", array->directory);
	}
}

static void note_maps(const struct view *view, struct findings *findings)
{
	if (!view_used_names(view))
		return;
	for (size_t i = 0; i < view->config.name_count; i++)
		if (!view->map_used[i])
			findings_add(findings, FINDING_UNUSED,
				     "names=%s: no split of the file has rows for it",
				     filename_of(view->config.names[i].path));
}

/* Of files, in which there are no arrays whatever was asked for. */
static bool is_archive(const struct index_summary *summary)
{
	static const char *const archives[] = { "tar", "squashfs", "zip" };

	for (size_t i = 0; i < sizeof(archives) / sizeof(*archives); i++)
		if (strcmp(summary->format, archives[i]) == 0)
			return true;
	return false;
}

void view_describe(const struct view *view, struct index_summary *summary)
{
	struct counts counts = describe_count(view);

	summary->classes = view->classes;
	if (!view_has_samples(view)) {
		snprintf(summary->view, sizeof(summary->view),
			 view->config.kind == VIEW_ARRAYS && !is_archive(summary) ?
			 "arrays (view=arrays); view=auto: images and classes, where there "
			 "are any" : "tree (the files have names of their own)");
		snprintf(summary->names, sizeof(summary->names), "as in the archive");
		snprintf(summary->labels, sizeof(summary->labels), "the directories");
		return;
	}
	describe_view(view, &counts, summary->view, sizeof(summary->view));
	describe_names(view, &counts, summary->names, sizeof(summary->names));
	describe_labels(view, &counts, summary->labels, sizeof(summary->labels));
	note_arrays(view, view->config.findings);
	note_maps(view, view->config.findings);
}

bool view_has_samples(const struct view *view)
{
	return view->arrays.count > 0;
}

size_t view_class_count(const struct view *view)
{
	return view->classes;
}

bool view_used_classes(const struct view *view)
{
	return view->classes_used;
}

bool view_used_names(const struct view *view)
{
	for (size_t i = 0; i < view->config.name_count; i++)
		if (view->map_used[i])
			return true;
	return false;
}

bool view_has_named_rows(const struct view *view)
{
	for (size_t i = 0; i < view->arrays.count; i++)
		if (view->arrays.items[i].named)
			return true;
	return false;
}

bool view_has_labels(const struct view *view, const char *name)
{
	for (size_t i = 0; i < view->arrays.count; i++)
		if (view->arrays.items[i].source && strstr(view->arrays.items[i].source, name))
			return true;
	return false;
}
