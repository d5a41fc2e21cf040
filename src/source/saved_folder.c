/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/saved_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "base/pyjson.h"
#include "source/source.h"

enum { STATE_MOST = 16 << 20, /* bytes */ FILES_MOST = 100000 };

/* A JSON file in memory. */
struct saved_json {
	char *path, *text;
	struct pyjson json;
};

void path_list_free(struct path_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	vec_free(list);
}

static char *join_path(const char *folder, const char *name, size_t size)
{
	size_t n = strlen(folder);
	char *path = malloc(n + size + 2);

	if (!path)
		return NULL;
	while (n > 1 && folder[n - 1] == '/')
		n--;
	snprintf(path, n + size + 2, "%.*s/%.*s", (int)n, folder, (int)size, name);
	return path;
}

static int push_path(struct path_list *list, char *path, struct error *e)
{
	if (path && list->count < FILES_MOST && vec_push(list, path) == 0)
		return 0;
	free(path);
	return error_no_memory(e, NULL);
}

static int refuse_state(const struct saved_json *saved, const char *what, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' %s; name the Arrow files beside it instead of the folder",
			 saved->path, what);
}

static void close_saved(struct saved_json *saved)
{
	pyjson_end(&saved->json);
	free(saved->path);
	free(saved->text);
}

static void close_source(struct source **source)
{
	if (*source)
		source_close(*source);
}

/* 1, or 0 if there is no such file, or it is empty. */
static int open_saved(const char *folder, const char *name, struct saved_json *out,
		      struct error *e)
{
	CLEANUP(close_source) struct source *source = NULL;
	struct pyjson_fault fault;
	uint64_t size;

	*out = (struct saved_json){.path = join_path(folder, name, strlen(name))};
	if (!out->path)
		return error_no_memory(e, NULL);
	if (source_open(out->path, &source, NULL) < 0 || source_size(source) == 0)
		return 0;
	size = source_size(source);
	if (size > STATE_MOST)
		return refuse_state(out, "has more than 16 MiB", e);
	out->text = malloc((size_t)size);
	if (!out->text)
		return error_no_memory(e, NULL);
	if (source_pread(source, out->text, (size_t)size, 0) < 0)
		return refuse_state(out, "cannot be read", e);
	if (pyjson_begin(&out->json, out->text, (size_t)size, &fault) < 0 ||
	    out->json.root.kind != PYJSON_OBJECT)
		return refuse_state(out, "is no JSON object", e);
	return 1;
}

/* The file or folder name in a string; the caller frees it. */
static int take_own_name(const struct saved_json *saved,
			 const struct pyjson_value *string, const char *folder,
			 char **out, struct error *e)
{
	CLEANUP(cleanup_free) char *text = malloc(string->size + 1);
	const char *name;
	size_t n;

	if (!text)
		return error_no_memory(e, NULL);
	n = pyjson_string(string, text);
	text[n] = '\0';
	name = filename_of(text);
	if (!*name || strlen(text) != n || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return refuse_state(saved, "names a file that cannot be one", e);
	*out = join_path(folder, name, strlen(name));
	return *out ? 0 : error_no_memory(e, NULL);
}

/* The files of [{"filename": "data-00000-of-00001.arrow"}, ...]; null has none. */
static int list_files(const struct saved_json *saved, const char *key, const char *folder,
		      struct path_list *list, struct error *e)
{
	struct pyjson_value files, item, unused, name;
	struct pyjson_walk walk;
	char *path;
	int err = 0;

	if (!pyjson_find(&saved->json.root, key, strlen(key), &files))
		return 0;
	walk = pyjson_items(&files);
	while (!err && pyjson_next(&walk, &unused, &item)) {
		if (!pyjson_find(&item, "filename", strlen("filename"), &name) ||
		    name.kind != PYJSON_STRING)
			return refuse_state(saved, "has a file without a name", e);
		err = take_own_name(saved, &name, folder, &path, e);
		if (!err)
			err = push_path(list, path, e);
	}
	return err;
}

static int list_dataset(const char *folder, struct path_list *list, struct error *e)
{
	CLEANUP(close_saved) struct saved_json saved;
	size_t before = list->count;
	int there = open_saved(folder, "state.json", &saved, e), err;

	if (there <= 0)
		return there;
	err = list_files(&saved, "_data_files", folder, list, e);
	if (!err && list->count == before)
		err = refuse_state(&saved, "lists no files", e);
	if (!err)
		err = list_files(&saved, "_indices_data_files", folder, list, e);
	return err ? err : 1;
}

static int saved_folder_list_splits(const struct saved_json *saved, const char *folder,
				    struct path_list *list, struct error *e)
{
	struct pyjson_value splits, split, unused;
	struct pyjson_walk walk;
	int there = 1;

	if (!pyjson_find(&saved->json.root, "splits", strlen("splits"), &splits))
		return refuse_state(saved, "lists no splits", e);
	walk = pyjson_items(&splits);
	while (there > 0 && pyjson_next(&walk, &unused, &split)) {
		CLEANUP(cleanup_free) char *inner = NULL;

		if (split.kind != PYJSON_STRING)
			return refuse_state(saved, "lists no splits", e);
		there = take_own_name(saved, &split, folder, &inner, e);
		if (there == 0)
			there = list_dataset(inner, list, e);
		if (there == 0)
			return refuse_state(
				saved, "lists a split whose folder has no state.json", e);
	}
	return there;
}

int saved_folder_list(const char *folder, struct path_list *list, struct error *e)
{
	CLEANUP(close_saved) struct saved_json saved;
	int there = open_saved(folder, "dataset_dict.json", &saved, e);

	if (there < 0)
		return there;
	return there ? saved_folder_list_splits(&saved, folder, list, e)
		     : list_dataset(folder, list, e);
}

/* Without a state.json, which may be missing in a copy, the name is the library's. */
static int list_usual_indices(const char *folder, struct path_list *list, struct error *e)
{
	static const char name[] = "indices.arrow";
	CLEANUP(close_source) struct source *source = NULL;
	char *path = join_path(folder, name, sizeof(name) - 1);

	if (path && source_open(path, &source, NULL) < 0) {
		free(path);
		return 0;
	}
	return push_path(list, path, e);
}

int saved_indices_list(const char *path, struct path_list *list, struct error *e)
{
	const char *name = filename_of(path);
	CLEANUP(cleanup_free) char *folder = NULL;
	CLEANUP(close_saved) struct saved_json saved = { 0 };
	int there;

	if (strcmp(name, "dataset.arrow") != 0)
		return 0;
	folder = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
	if (!folder)
		return error_no_memory(e, NULL);
	there = open_saved(folder, "state.json", &saved, e);
	if (there < 0)
		return there;
	if (there)
		return list_files(&saved, "_indices_data_files", folder, list, e);
	return list_usual_indices(folder, list, e);
}
