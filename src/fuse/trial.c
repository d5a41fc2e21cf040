/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/trial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "fuse/control.h"

enum {
	DEPTH_MOST = 32,
	NAMES_MOST = 4096,     /* of a directory that are tried in a choice */
	/*
	 * A directory that is not merged has the FUSE mount's own listing, passed on name
	 * by name. Its beginning shows if that works, and a directory may have millions
	 * of names.
	 */
	LISTED_MOST = 1000,
};

/* ---- The paths to test ---- */

static bool is_readable(const struct tree *tree, const struct tree_name *name)
{
	struct tree_stat st;

	return name->kind == TREE_FILE && tree_stat(tree, name->node, &st) == 0 && st.size;
}

static bool trial_is_directory(const struct tree *tree, const struct tree_name *name)
{
	return name->kind == TREE_DIRECTORY;
}

/* The first name of this kind in a directory. */
static bool trial_find_first(const struct tree *tree, uint32_t directory,
			     bool (*fits)(const struct tree *, const struct tree_name *),
			     struct tree_name *out)
{
	for (uint32_t i = 0; i < NAMES_MOST && tree_child(tree, directory, i,
							  out) == 0; i++) {
		if (out->length <= NAME_MAX && fits(tree, out))
			return true;
	}
	return false;
}

/* A file with bytes, by way of first directories; NULL if none is found soon. */
static char *trial_find_file(const struct dataset *dataset)
{
	const struct tree *tree = dataset_tree(dataset);
	uint32_t directory = dataset_root(dataset);
	char path[DEPTH_MOST * (NAME_MAX + 1)];
	size_t used = 0;

	for (int depth = 0; depth < DEPTH_MOST; depth++) {
		struct tree_name name;

		if (!trial_find_first(tree, directory, is_readable, &name) &&
		    !trial_find_first(tree, directory, trial_is_directory, &name))
			return NULL;
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%s%.*s",
					 used ? "/" : "", (int)name.length, name.name);
		if (used >= sizeof(path))
			return NULL;
		if (name.kind == TREE_FILE)
			return strdup(path);
		directory = name.node;
	}
	return NULL;
}

static char *trial_find_directory(const struct dataset *dataset)
{
	struct tree_name name;

	return trial_find_first(dataset_tree(dataset), dataset_root(dataset),
				trial_is_directory, &name)
		       ? strndup(name.name, name.length)
		       : NULL;
}

void trial_choose(const struct dataset *dataset, bool merged, struct trial *out)
{
	*out = (struct trial){.dataset = dataset,
			      .merged = merged,
			      .directory = trial_find_directory(dataset),
			      .file = trial_find_file(dataset)};
}

void trial_free(struct trial *trial)
{
	free(trial->directory);
	free(trial->file);
}

/* ---- A listing ---- */

struct trial_names {
	VEC(char *) list;
	bool whole; /* there are no more */
};

static void free_names(struct trial_names *names)
{
	for (size_t i = 0; i < names->list.count; i++)
		free(names->list.items[i]);
	vec_free(&names->list);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/*
 * The names of a directory, or the first `most`. A listing that ends with an error may
 * look complete to its reader. 0 or an errno.
 */
static int trial_read_names(int root, const char *path, size_t most,
			    struct trial_names *out)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int err = directory ? 0 : errno;

	if (!directory && fd >= 0)
		close(fd);
	while (!err && out->list.count < most) {
		char *name;

		entry = readdir(directory);
		out->whole = !entry;
		if (!entry)
			break;
		if (is_dots(entry->d_name))
			continue;
		name = strdup(entry->d_name);
		if (!name || vec_push(&out->list, name) < 0) {
			free(name);
			err = ENOMEM;
		}
	}
	if (directory)
		closedir(directory);
	return err;
}

static int trial_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- Compared with the tree ---- */

struct trial_directory {
	const struct tree *tree;
	uint32_t node;
	const char *path; /* from the root: "." is the root itself */
	size_t most;      /* names that are read */
};

/* The listing of the root has a name of that length, or no listing can show it. */
static bool is_listed(const struct trial_names *names,
		      const struct trial_directory *directory,
		      const struct tree_name *name)
{
	char text[NAME_MAX + 1];
	const char *key = text;

	if (name->length > NAME_MAX)
		return true;
	memcpy(text, name->name, name->length);
	text[name->length] = '\0';
	return bsearch(&key, names->list.items, names->list.count, sizeof(char *),
		       trial_compare_names) ||
	       (strcmp(directory->path, ".") == 0 && strcmp(text, CONTROL_NAME) == 0);
}

/* The first name of the tree that is missing in a whole listing. */
static bool lacks(const struct trial_names *names, const struct trial_directory *directory,
		  struct tree_name *missing)
{
	for (uint32_t i = 0; tree_child(directory->tree, directory->node, i,
					missing) == 0; i++) {
		if (!is_listed(names, directory, missing))
			return true;
	}
	return false;
}

/* The first name that is not in the tree, or NULL. */
static const char *find_stranger(const struct trial_names *names,
				 const struct trial_directory *directory)
{
	uint32_t node;

	for (size_t i = 0; i < names->list.count; i++) {
		const char *name = names->list.items[i];

		if (tree_lookup(directory->tree, directory->node, name, strlen(name),
				&node) ==
		    -ENOENT)
			return name;
	}
	return NULL;
}

static int differs(const struct trial_directory *directory, const char *how,
		   const char *name, size_t length, char *why, size_t size)
{
	bool root = strcmp(directory->path, ".") == 0;

	snprintf(why, size, "through an overlay the listing of %s%.60s%s %s '%.*s'",
		 root ? "the root" : "'", root ? "" : directory->path, root ? "" : "'", how,
		 length < 100 ? (int)length : 100, name);
	return 1;
}

static int trial_compare(const struct trial_directory *directory, struct trial_names *names,
			 char *why, size_t size)
{
	struct tree_name missing;
	const char *stranger;

	if (names->list.count)
		qsort(names->list.items, names->list.count, sizeof(char *),
		      trial_compare_names);
	if (names->whole && lacks(names, directory, &missing))
		return differs(directory, "lacks", missing.name, missing.length, why, size);
	stranger = find_stranger(names, directory);
	if (!stranger)
		return 0;
	return differs(directory, "has a name too many,", stranger, strlen(stranger), why,
		       size);
}

static int list_one(const struct trial_directory *directory, int root, char *why,
		    size_t size)
{
	CLEANUP(free_names) struct trial_names names = { 0 };
	int err = trial_read_names(root, directory->path, directory->most, &names);

	if (!err)
		return trial_compare(directory, &names, why, size);
	snprintf(why, size, "through an overlay '%.60s' cannot be listed: %s",
		 directory->path, strerror(err));
	return 1;
}

static int try_directory(const struct trial_directory *directory, int overlay, int bare,
			 char *why,
		      size_t size)
{
	char bare_why[512];

	return list_one(directory, overlay, why, size) != 0 &&
	       (list_one(directory, bare, bare_why, sizeof(bare_why)) == 0 ||
		strncmp(why, bare_why, size) != 0);
}

int trial_list(const struct trial *trial, int overlay, int bare, char *why, size_t size)
{
	struct trial_directory directory = {
		.tree = dataset_tree(trial->dataset), .node = dataset_root(trial->dataset),
		.path = ".",
		/* one more than expected, to see the end of the listing */
		.most = trial->merged ? TRIAL_MERGED_MOST + 1 : LISTED_MOST,
	};

	if (try_directory(&directory, overlay, bare, why, size))
		return 1;
	if (!trial->directory || tree_walk(directory.tree, directory.node, trial->directory,
					&directory.node) < 0)
		return 0;
	directory.path = trial->directory;
	directory.most = LISTED_MOST;
	return try_directory(&directory, overlay, bare, why, size);
}

/* ---- A file ---- */

/*
 * Directory by directory, none of which may be a link: no file outside of the mount is
 * opened.
 */
static int trial_open_beneath(int root, const char *path)
{
	const int how = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	CLEANUP(cleanup_close) int directory = -1;
	const char *slash;

	for (; (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		int next;

		snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
		next = openat(directory < 0 ? root : directory, name,
			      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		cleanup_close(&directory);
		directory = next;
		if (directory < 0)
			return -1;
	}
	return openat(directory < 0 ? root : directory, path, how);
}

/* 0, or an errno. */
static int trial_read_one(int root, const char *path)
{
	CLEANUP(cleanup_close) int fd = trial_open_beneath(root, path);
	char byte;

	return fd >= 0 && pread(fd, &byte, 1, 0) >= 0 ? 0 : errno;
}

int trial_read(const struct trial *trial, int overlay, int bare, char *why, size_t size)
{
	int err = trial->file ? trial_read_one(overlay, trial->file) : 0;

	/* a damaged file is no fault of the overlay */
	if (!err || trial_read_one(bare, trial->file) == err)
		return 0;
	snprintf(why, size, "no file can be read through an overlay: %s", strerror(err));
	return 1;
}
