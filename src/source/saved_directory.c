/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/saved_directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "source/source.h"

enum { FILES_MOST = 100000 };

#define REMEDY "name the Arrow files beside it instead of the directory"

static int push_path(struct path_list *list, char *path, struct error *e)
{
	if (path && list->count < FILES_MOST && vec_push(list, path) == 0)
		return 0;
	free(path);
	return error_no_memory(e, NULL);
}

static void close_source(struct source **source)
{
	if (*source)
		source_close(*source);
}

/* The member `key` lists names, or objects with "filename"; null and no member have none. */
static enum json_names_fault read_list(struct json_names *names, const struct pyjson_value *root,
				       const char *key)
{
	enum json_names_fault fault = JSON_NAMES_FINE;
	struct pyjson_value list, unused, item, name;
	struct pyjson_walk walk;

	if (!pyjson_find(root, key, strlen(key), &list))
		return JSON_NAMES_FINE;
	walk = pyjson_items(&list);
	while (!fault && pyjson_next(&walk, &unused, &item)) {
		name = item;
		if (item.kind == PYJSON_OBJECT &&
		    !pyjson_find(&item, "filename", strlen("filename"), &name))
			return JSON_NAMES_UNNAMED;
		fault = name.kind == PYJSON_STRING ? json_names_add_last(names, &name) :
						     JSON_NAMES_UNNAMED;
	}
	return fault;
}

static bool is_own_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int list_files(const struct json_file *saved, const char *key,
		      const char *directory, struct path_list *list, struct error *e)
{
	const struct json_names_kind kind = { read_list, key, FILES_MOST, is_own_name, REMEDY };
	CLEANUP(path_list_free) struct path_list names = { NULL, 0, 0 };
	int err = json_names_list(saved, &kind, &names, e);

	for (size_t i = 0; i < names.count && !err; i++)
		err = push_path(list, json_file_join(directory, names.items[i]), e);
	return err;
}

static int list_dataset(const char *directory, size_t *left, struct path_list *list,
			struct error *e)
{
	CLEANUP(json_file_free) struct json_file saved;
	size_t before = list->count;
	int there = json_file_read(directory, "state.json", left, REMEDY, &saved, e), err;

	if (there <= 0)
		return there;
	err = list_files(&saved, "_data_files", directory, list, e);
	if (!err && list->count == before)
		err = json_names_refuse(saved.path, "lists no files", REMEDY, e);
	if (!err)
		err = list_files(&saved, "_indices_data_files", directory, list, e);
	return err ? err : 1;
}

static int list_splits(const struct json_file *saved, const char *directory, size_t *left,
		       struct path_list *list, struct error *e)
{
	CLEANUP(path_list_free) struct path_list splits = { NULL, 0, 0 };
	int there = list_files(saved, "splits", directory, &splits, e);

	if (there == 0 && splits.count == 0)
		return json_names_refuse(saved->path, "lists no splits", REMEDY, e);
	for (size_t i = 0; i < splits.count && there >= 0; i++) {
		there = list_dataset(splits.items[i], left, list, e);
		if (there == 0)
			return json_names_refuse(saved->path, "lists a split whose directory has "
						 "no state.json", REMEDY, e);
	}
	return there;
}

int saved_directory_list(const char *directory, size_t *left, struct path_list *list,
		      struct error *e)
{
	CLEANUP(json_file_free) struct json_file saved;
	int there = json_file_read(directory, "dataset_dict.json", left, REMEDY, &saved, e);

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
	char *path = json_file_join(directory, "indices.arrow");

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
	CLEANUP(json_file_free) struct json_file saved = { 0 };
	int there;

	if (strcmp(name, "dataset.arrow") != 0)
		return 0;
	directory = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
	if (!directory)
		return error_no_memory(e, NULL);
	there = json_file_read(directory, "state.json", left, REMEDY, &saved, e);
	if (there < 0)
		return there;
	if (there)
		return list_files(&saved, "_indices_data_files", directory, list, e);
	return list_usual_indices(directory, list, e);
}
