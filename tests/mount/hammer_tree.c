/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree that is known to be right. */
#include "hammer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char failed_path[4096 + 64];

const char *tree_failed(void)
{
	return failed_path;
}

static int fail(const char *path)
{
	snprintf(failed_path, sizeof(failed_path), "%s", path);
	return -1;
}

static void *grown(void *array, size_t count, size_t size)
{
	if (count & (count - 1)) /* room doubles at powers of two */
		return array;
	array = realloc(array, (count ? count * 2 : 1) * size);
	if (!array)
		abort();
	return array;
}

int name_order(const void *a, const void *b)
{
	const struct name *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static unsigned char type_of(mode_t mode)
{
	return S_ISREG(mode) ? DT_REG : S_ISDIR(mode) ? DT_DIR : S_ISLNK(mode) ? DT_LNK : 0;
}

static char *joined(const char *directory, const char *name)
{
	size_t size = strlen(directory) + strlen(name) + 2;
	char *path = malloc(size);

	if (!path)
		abort();
	if (strcmp(directory, ".") == 0)
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "%s/%s", directory, name);
	return path;
}

static void add_item(struct tree *tree, char *path, const struct stat *st)
{
	tree->items = grown(tree->items, tree->count, sizeof(*tree->items));
	tree->items[tree->count++] = (struct item){ .path = path, .st = *st };
}

/* A name of the directory that is item `directory`. */
static int add_name(struct tree *tree, int root, size_t directory, const char *name)
{
	char *path = joined(tree->items[directory].path, name);
	struct item *parent;
	struct stat st;

	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(path);
	if (!type_of(st.st_mode)) {
		free(path);
		return 0;
	}
	add_item(tree, path, &st);
	parent = &tree->items[directory];
	parent->names = grown(parent->names, parent->count, sizeof(*parent->names));
	parent->names[parent->count++] =
		(struct name){ .name = strdup(name), .type = type_of(st.st_mode) };
	return 0;
}

static int load_directory(struct tree *tree, int root, size_t directory)
{
	int fd = openat(root, tree->items[directory].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!stream)
		return fail(tree->items[directory].path);
	while (!err && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			err = add_name(tree, root, directory, entry->d_name);
	closedir(stream);
	if (tree->items[directory].count)
		qsort(tree->items[directory].names, tree->items[directory].count,
		      sizeof(struct name), name_order);
	return err;
}

int tree_load(struct tree *tree, int root)
{
	struct stat st;

	if (fstat(root, &st) < 0)
		return fail(".");
	add_item(tree, strdup("."), &st);
	for (size_t i = 0; i < tree->count; i++) {
		mode_t mode = tree->items[i].st.st_mode;

		if (S_ISDIR(mode) && load_directory(tree, root, i) < 0)
			return -1;
	}
	return 0;
}

static bool is_one_of(const char *path, const char *const *paths, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(path, paths[i]) == 0)
			return true;
	return false;
}

void tree_exclude(struct tree *tree, const char *const *paths, unsigned count)
{
	for (size_t i = 0; i < tree->count; i++) {
		struct item *it = &tree->items[i];

		it->excluded = is_one_of(it->path, paths, count);
		if (it->excluded || !S_ISREG(it->st.st_mode) || it->st.st_size == 0)
			continue;
		tree->files = grown(tree->files, tree->file_count, sizeof(*tree->files));
		tree->files[tree->file_count++] = i;
	}
}
