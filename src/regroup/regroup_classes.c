/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regroup/regroup_classes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "maps/maps_texts.h"
#include "names/split_words.h"

/* A directory, and the label of the files in it. */
struct regroup_classes_directory {
	const char *name;
	int64_t label;
	bool many; /* they have several labels: it is no class */
};

enum source { FROM_MAPS, FROM_NUMBERS, FROM_TRAIN, FROM_DIRECTORIES, FROM_LIST };

struct regroup_classes {
	const struct class_list *list;
	struct map_texts names;     /* of directories */
	VEC(struct regroup_classes_directory) directories; /* by number of their name;
			once sealed: classes only, by their labels */
	struct map_texts train;     /* once sealed: in order, if they are the labels */
	int64_t most;               /* the largest label, or -1 */
	int64_t least;              /* the smallest one, or INT64_MAX */
	int digits;
	enum source source;         /* the best that a name came from */
	bool is_nameless;           /* a label had none, though there is a list: */
	int64_t nameless;           /* the first such */
	char number[24];
};

struct regroup_classes *regroup_classes_new(const struct class_list *list)
{
	struct regroup_classes *classes = calloc(1, sizeof(*classes));

	if (!classes)
		return NULL;
	classes->list = list;
	classes->most = -1;
	classes->least = INT64_MAX;
	return classes;
}

void regroup_classes_free(struct regroup_classes *classes)
{
	if (!classes)
		return;
	map_texts_free(&classes->names);
	vec_free(&classes->directories);
	map_texts_free(&classes->train);
	free(classes);
}

/* Directories that have a class's name never are called so; others often are. */
static bool is_no_class(const char *name, size_t size)
{
	return split_is_word(name, size) || (size == 6 && memcmp(name, "images", size) == 0) ||
	       (size == 4 && memcmp(name, "data", size) == 0);
}

int regroup_classes_add(struct regroup_classes *classes, const char *path, int64_t label)
{
	struct regroup_classes_directory directory = { .label = label };
	const char *name;
	size_t size = directory_name_of(path, &name);
	int64_t number;

	if (label > classes->most)
		classes->most = label;
	if (label >= 0 && label < classes->least)
		classes->least = label;
	if (size == 0 || is_no_class(name, size) || map_class_fault(name, size))
		return 0;
	number = map_texts_add(&classes->names, name, size);
	if (number < 0)
		return -ENOMEM;
	if ((size_t)number < classes->directories.count) {
		classes->directories.items[number].many |=
			classes->directories.items[number].label != label;
		return 0;
	}
	directory.name = classes->names.items.items[number];
	return vec_push(&classes->directories, directory);
}

/* "a/train/n01440764/..." */
int regroup_classes_add_path(struct regroup_classes *classes, const char *path)
{
	const char *at = path, *end;

	while ((end = strchr(at, '/'))) {
		if (split_is_same(at, (size_t)(end - at), "train", strlen("train")))
			break;
		at = end + 1;
	}
	if (!end)
		return 0;
	at = end + 1;
	end = strchr(at, '/');
	if (!end || map_class_fault(at, (size_t)(end - at)))
		return 0;
	return map_texts_intern(&classes->train, at, (size_t)(end - at)) ? 0 : -ENOMEM;
}

static int regroup_classes_by_label(const void *left, const void *right)
{
	const struct regroup_classes_directory *a = left, *b = right;

	if (a->many != b->many)
		return a->many ? 1 : -1;
	return (a->label > b->label) - (a->label < b->label);
}

/* Keeps the directories of one label that are the only ones of that label. */
static void store_classes(struct regroup_classes *classes)
{
	struct regroup_classes_directory *directories = classes->directories.items;
	size_t n = 0, kept = 0, next;

	if (classes->directories.count == 0)
		return;
	qsort(directories, classes->directories.count, sizeof(*directories),
	      regroup_classes_by_label);
	while (n < classes->directories.count && !directories[n].many)
		n++;
	for (size_t i = 0; i < n; i = next) {
		next = i + 1;
		while (next < n && directories[next].label == directories[i].label)
			next++;
		if (next == i + 1)
			directories[kept++] = directories[i];
	}
	/* with one alone nothing says that it was not by chance */
	classes->directories.count = kept > 1 ? kept : 0;
}

static int regroup_classes_by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void regroup_classes_seal(struct regroup_classes *classes)
{
	struct map_texts *train = &classes->train;

	store_classes(classes);
	classes->digits = snprintf(NULL, 0, "%" PRId64,
				   classes->most < 0 ? 0 : classes->most);
	/* one label and one directory say nothing of each other */
	if (classes->most < 1 || train->items.count != (uint64_t)classes->most + 1)
		train->items.count = 0;
	if (train->items.count)
		qsort(train->items.items, train->items.count, sizeof(*train->items.items),
		      regroup_classes_by_text);
}

static const char *regroup_classes_find_name(const struct regroup_classes *classes,
					     int64_t label, enum source *source)
{
	const struct regroup_classes_directory wanted = { .label = label }, *directory =
		NULL;
	const char *name = NULL;

	*source = FROM_LIST;
	if (classes->list)
		name = class_list_name(classes->list, label);
	if (name)
		return name;
	if (classes->directories.count)
		directory = bsearch(&wanted, classes->directories.items,
				    classes->directories.count,
				 sizeof(*directory), regroup_classes_by_label);
	*source = FROM_DIRECTORIES;
	if (directory)
		return directory->name;
	*source = FROM_TRAIN;
	if (label >= 0 && (uint64_t)label < classes->train.items.count)
		return classes->train.items.items[label];
	*source = FROM_NUMBERS;
	return NULL;
}

const char *regroup_classes_name(struct regroup_classes *classes, int64_t label)
{
	enum source source;
	const char *name = regroup_classes_find_name(classes, label, &source);

	if (source > classes->source)
		classes->source = source;
	if (name)
		return name;
	if (classes->list && !classes->is_nameless) {
		classes->is_nameless = true;
		classes->nameless = label;
	}
	snprintf(classes->number, sizeof(classes->number), "%0*" PRId64, classes->digits,
		 label);
	return classes->number;
}

bool regroup_classes_nameless(const struct regroup_classes *classes, int64_t *label)
{
	*label = classes->nameless;
	return classes->is_nameless;
}

bool regroup_classes_shifted(const struct regroup_classes *classes)
{
	struct class_list_labels has;

	if (!classes->list || classes->least == 0 || classes->least == INT64_MAX)
		return false;
	class_list_labels(classes->list, &has);
	return has.ordered && has.first == 0;
}

const char *regroup_classes_source(const struct regroup_classes *classes)
{
	static const char *const sources[] = {
		[FROM_MAPS] = "the names in the maps", /* nothing was asked for */
		[FROM_NUMBERS] = "their numbers",
		[FROM_TRAIN] = "the directories below train/, in their order",
		[FROM_DIRECTORIES] = "the directories that their files lie in",
		[FROM_LIST] = "the list of classes",
	};

	return sources[classes->source];
}
