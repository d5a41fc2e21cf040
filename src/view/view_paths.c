/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_paths.c: the paths of rows, and that none comes twice. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "index/checksum.h"
#include "view/view_parts.h"

enum { ROW_DIGITS = 20 };

int view_begin_naming(const struct view *view, const struct array *array,
		      struct naming *out)
{
	*out = (struct naming){ .view = view, .array = array };
	out->room = strlen(array->directory) + 2 * (VIEW_COMPONENT_BYTES + 1) +
		    VIEW_PATH_BYTES + ROW_DIGITS;
	out->path = malloc(out->room);
	return out->path ? 0 : -ENOMEM;
}

void view_end_naming(struct naming *naming)
{
	free(naming->path);
	naming->path = NULL;
}

/* The name up to the first dot of its last component. */
static size_t stem_length(const char *name)
{
	const char *last = filename_of(name);

	return (size_t)(last - name) + strcspn(last, ".");
}

static bool is_same_class(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The row where names with this stem begin, one behind the other. */
static uint64_t stem_row(struct naming *naming, const struct row *row, const char *name,
			 const char *class_text)
{
	size_t n = stem_length(name);

	if (!naming->stem || n != naming->stem_length ||
	    !is_same_class(class_text, naming->stem_class) || row->piece != naming->stem_piece || memcmp(name, naming->stem, n) != 0 ||
	    strcmp(name, naming->stem) == 0) {
		naming->stem = name;
		naming->stem_length = n;
		naming->stem_piece = row->piece;
		naming->stem_class = class_text;
		naming->stem_row = row->number;
	}
	return naming->stem_row;
}

/* "0000007-a_b.jpg": without directories, for these might be called as files are. */
static bool write_prefixed(struct naming *naming, const struct row *row, const char *name,
			   char *out)
{
	int digits = naming->view->row_digits, n;
	uint64_t number = row->number;

	if (naming->array->prefix == PREFIX_STEM)
		number = stem_row(naming, row, name, view_class_text(naming->array, row));
	if ((size_t)digits + 1 + strlen(name) > VIEW_COMPONENT_BYTES)
		return false;
	n = snprintf(out, VIEW_COMPONENT_BYTES + 1, "%0*" PRIu64 "-", digits, number);
	for (; *name; name++)
		out[n++] = *name == '/' ? '_' : *name;
	out[n] = '\0';
	return true;
}

/* A name in the class or split, or false where it has to be the row's number. */
static bool view_paths_write_name(struct naming *naming, const struct row *row, char *out)
{
	const char *name = view_row_name(naming->array, row);

	if (!name || !view_safe_path(name, out))
		return false;
	if (naming->array->prefix == PREFIX_NONE)
		return true;
	/* its text is what a stem is compared with, so it is not the copy */
	return write_prefixed(naming, row, name, out);
}

static size_t view_paths_append(struct naming *naming, size_t n, const char *component)
{
	size_t last = naming->room - 1, length;

	if (n && n < last)
		naming->path[n++] = '/';
	length = strnlen(component, last - n);
	memcpy(naming->path + n, component, length);
	naming->path[n + length] = '\0';
	return n + length;
}

void view_write_path(struct naming *naming, const struct row *row)
{
	const struct array *array = naming->array;
	char class_room[VIEW_COMPONENT_BYTES + 1], name[VIEW_PATH_BYTES];
	const char *class_name = NULL;
	bool named = view_paths_write_name(naming, row, name);
	size_t n = view_paths_append(naming, 0, array->directory);

	if (array->form == FORM_CLASSES)
		class_name = view_class_directory(naming->view, array, row, class_room);
	if (class_name)
		n = view_paths_append(naming, n, class_name);
	else if (!named && array->form == FORM_NAMES)
		n = view_paths_append(
			naming, n, array->name); /* a row as it would be without names */
	if (!named)
		snprintf(name, sizeof(name), "%0*" PRIu64 ".%.*s", naming->view->row_digits,
			 row->number, VIEW_COMPONENT_BYTES - ROW_DIGITS - 1,
			 row->group->extension);
	view_paths_append(naming, n, name);
}

/* ---- Names that come twice ---- */

static int compare_hashes(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

struct hashes {
	VEC(uint64_t) files, directories;
};

/* The directories of the path below that of the array, each once for many files. */
static int add_directories(struct hashes *hashes, const char *path, size_t from)
{
	for (const char *at = strchr(path + from, '/'); at; at = strchr(at + 1, '/'))
		if (vec_push(&hashes->directories, sum_of(path, (size_t)(at - path))) < 0)
			return -ENOMEM;
	return 0;
}

static int hash_paths(const struct view *view, const struct array *array,
		      struct hashes *hashes)
{
	struct rows rows = { .array = array };
	struct naming naming;
	struct row row;
	int err = view_begin_naming(view, array, &naming);
	size_t from = strlen(array->directory);

	while (!err && view_next_row(&rows, &row)) {
		view_write_path(&naming, &row);
		err = vec_push(&hashes->files, sum_of(naming.path, strlen(naming.path)));
		if (!err)
			err = add_directories(hashes, naming.path, from + (from > 0));
	}
	view_end_naming(&naming);
	return err;
}

static bool come_twice(const struct hashes *hashes)
{
	const uint64_t *files = hashes->files.items;
	size_t n = hashes->files.count;

	qsort(hashes->files.items, n, sizeof(*files), compare_hashes);
	for (size_t i = 1; i < n; i++)
		if (files[i - 1] == files[i])
			return true;
	for (size_t i = 0; i < hashes->directories.count; i++)
		if (bsearch(&hashes->directories.items[i], files, n, sizeof(*files),
			    compare_hashes))
			return true;
	return false;
}

/* 1: some path of the array comes twice; a file would be a directory, too. */
static int view_paths_repeats(const struct view *view, const struct array *array)
{
	struct hashes hashes = { VEC_INIT, VEC_INIT };
	int err = hash_paths(view, array, &hashes);

	if (!err && hashes.files.count)
		err = come_twice(&hashes);
	vec_free(&hashes.files);
	vec_free(&hashes.directories);
	return err;
}

int view_choose_prefix(const struct view *view, struct array *array)
{
	int err;

	if (array->named == 0 && array->keys.count == 0)
		return 0;
	while ((err = view_paths_repeats(view, array)) == 1 && array->prefix < PREFIX_ROW)
		array->prefix++;
	return err < 0 ? err : 0;
}
