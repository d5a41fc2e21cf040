/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/saved_directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "source/source.h"

enum { FILE_COST = 64 << 10, /* bytes: a process parses it */ FILES_MOST = 100000 };

/* A JSON file in memory. */
struct saved_json {
	char *path, *text;
	size_t size;
};

static char *join_path(const char *directory, const char *name)
{
	size_t n = strlen(directory), room = n + strlen(name) + 2;
	char *path = malloc(room);

	if (!path)
		return NULL;
	while (n > 1 && directory[n - 1] == '/')
		n--;
	snprintf(path, room, "%.*s/%s", (int)n, directory, name);
	return path;
}

static int push_path(struct path_list *list, char *path, struct error *e)
{
	if (path && list->count < FILES_MOST && vec_push(list, path) == 0)
		return 0;
	free(path);
	return error_no_memory(e, NULL);
}

static void close_saved(struct saved_json *saved)
{
	free(saved->path);
	free(saved->text);
}

static void close_source(struct source **source)
{
	if (*source)
		source_close(*source);
}

/* 1, or 0 where there is no such file, or nothing in it. */
static int read_saved(const char *directory, const char *name, size_t *left,
		      struct saved_json *out, struct error *e)
{
	CLEANUP(close_source) struct source *source = NULL;
	uint64_t size;

	*out = (struct saved_json){ .path = join_path(directory, name) };
	if (!out->path)
		return error_no_memory(e, NULL);
	if (source_open(out->path, &source, NULL) < 0 || source_size(source) == 0)
		return 0;
	size = source_size(source);
	if (*left < FILE_COST || size > *left - FILE_COST)
		return saved_names_refuse(out->path, "and such files before it are too many, or "
					  "too large", e);
	*left -= (size_t)size + FILE_COST;
	out->size = (size_t)size;
	out->text = malloc(out->size);
	if (!out->text)
		return error_no_memory(e, NULL);
	if (source_pread(source, out->text, out->size, 0) < 0)
		return saved_names_refuse(out->path, "cannot be read", e);
	return 1;
}

static int list_files(const struct saved_json *saved, const char *key,
		      const char *directory, struct path_list *list, struct error *e)
{
	CLEANUP(path_list_free) struct path_list names = { NULL, 0, 0 };
	int err = saved_names_list(saved->path, saved->text, saved->size, key, &names, e);

	for (size_t i = 0; i < names.count && !err; i++)
		err = push_path(list, join_path(directory, names.items[i]), e);
	return err;
}

static int list_dataset(const char *directory, size_t *left, struct path_list *list,
			struct error *e)
{
	CLEANUP(close_saved) struct saved_json saved;
	size_t before = list->count;
	int there = read_saved(directory, "state.json", left, &saved, e), err;

	if (there <= 0)
		return there;
	err = list_files(&saved, "_data_files", directory, list, e);
	if (!err && list->count == before)
		err = saved_names_refuse(saved.path, "lists no files", e);
	if (!err)
		err = list_files(&saved, "_indices_data_files", directory, list, e);
	return err ? err : 1;
}

static int list_splits(const struct saved_json *saved, const char *directory, size_t *left,
		       struct path_list *list, struct error *e)
{
	CLEANUP(path_list_free) struct path_list splits = { NULL, 0, 0 };
	int there = list_files(saved, "splits", directory, &splits, e);

	if (there == 0 && splits.count == 0)
		return saved_names_refuse(saved->path, "lists no splits", e);
	for (size_t i = 0; i < splits.count && there >= 0; i++) {
		there = list_dataset(splits.items[i], left, list, e);
		if (there == 0)
			return saved_names_refuse(
				saved->path,
					"lists a split whose directory has no state.json",
						e);
	}
	return there;
}

int saved_directory_list(const char *directory, size_t *left, struct path_list *list,
		      struct error *e)
{
	CLEANUP(close_saved) struct saved_json saved;
	int there = read_saved(directory, "dataset_dict.json", left, &saved, e);

	if (there < 0)
		return there;
	return there ? list_splits(&saved, directory, left, list, e) :
		       list_dataset(directory, left, list, e);
}

/* Without a state.json, which may be missing in a copy, the name is the library's. */
static int list_usual_indices(const char *directory, struct path_list *list,
			      struct error *e)
{
	CLEANUP(close_source) struct source *source = NULL;
	char *path = join_path(directory, "indices.arrow");

	if (path && source_open(path, &source, NULL) < 0) {
		free(path);
		return 0;
	}
	return push_path(list, path, e);
}

int saved_indices_list(const char *path, size_t *left, struct path_list *list,
		       struct error *e)
{
	const char *name = filename_of(path);
	CLEANUP(cleanup_free) char *directory = NULL;
	CLEANUP(close_saved) struct saved_json saved = { 0 };
	int there;

	if (strcmp(name, "dataset.arrow") != 0)
		return 0;
	directory = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
	if (!directory)
		return error_no_memory(e, NULL);
	there = read_saved(directory, "state.json", left, &saved, e);
	if (there < 0)
		return there;
	if (there)
		return list_files(&saved, "_indices_data_files", directory, list, e);
	return list_usual_indices(directory, list, e);
}
