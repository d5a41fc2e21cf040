/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_directories.c: are the directories that names have those of the classes? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "base/unique.h"
#include "index/checksum.h"
#include "view/view_parts.h"

/* A directory that holds a class, both as hashes. */
struct fold {
	uint64_t directory, class_name;
};

struct folds {
	VEC(struct fold) items;
	size_t compact_at;
};

static int view_directories_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_directory(const void *left, const void *right)
{
	const struct fold *a = left, *b = right;
	int order = view_directories_compare(a->directory, b->directory);

	return order ? order : view_directories_compare(a->class_name, b->class_name);
}

static int by_class(const void *left, const void *right)
{
	const struct fold *a = left, *b = right;

	return view_directories_compare(a->class_name, b->class_name);
}

/* The directory right above a file: false where there is none. */
static bool fold_of(const struct array *array, const struct row *row, const char *path,
		    struct fold *out)
{
	const char *text = view_class_text(array, row), *directory;
	size_t n = directory_name_of(path, &directory);
	int64_t label = 0;

	if (n == 0)
		return false;
	out->directory = sum_of(directory, n);
	if (text)
		out->class_name = sum_of(text, strlen(text));
	else if (view_label(array, row, &label))
		out->class_name = sum_of(&label, sizeof(label));
	else
		return false;
	return true;
}

/* 1: all names have directories; 0: some has none. */
static int collect(const struct array *array, struct folds *folds)
{
	struct rows rows = { .array = array };
	char path[VIEW_PATH_BYTES];
	struct row row;

	while (view_next_row(&rows, &row)) {
		struct fold fold;

		if (!row.sample.name || !view_safe_path(row.sample.name, path) ||
		    !fold_of(array, &row, path, &fold))
			return 0;
		folds->items.count = unique_compact(folds->items.items,
						    folds->items.count,
						    sizeof(fold), by_directory,
						    &folds->compact_at);
		if (vec_push(&folds->items, fold) < 0)
			return -ENOMEM;
	}
	return 1;
}

/* Of folds that are sorted by directory. */
static bool are_several(const struct folds *folds)
{
	size_t n = folds->items.count;

	return n > 1 &&
		folds->items.items[0].directory != folds->items.items[n - 1].directory;
}

static bool one_to_one(struct folds *folds)
{
	struct fold *items = folds->items.items;
	size_t n = folds->items.count;

	for (size_t i = 1; i < n; i++)
		if (items[i - 1].directory == items[i].directory)
			return false;
	if (n)
		qsort(items, n, sizeof(*items), by_class);
	for (size_t i = 1; i < n; i++)
		if (items[i - 1].class_name == items[i].class_name)
			return false;
	return n > 0;
}

int view_directories_are_classes(const struct array *array, bool *several)
{
	struct folds folds = { VEC_INIT, UNIQUE_COMPACT_AT };
	int err = collect(array, &folds);

	*several = false;
	if (err == 1) {
		folds.items.count = unique_sort(folds.items.items, folds.items.count,
						sizeof(*folds.items.items), by_directory);
		*several = are_several(&folds);
		err = one_to_one(&folds);
	}
	vec_free(&folds.items);
	return err;
}
