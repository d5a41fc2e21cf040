/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/list_all.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

struct list_all_walk {
	VEC(char *) waiting; /* directories; each is owned */
};

static void list_all_add(struct list_all_walk *walk, const char *directory,
			 const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return;
	if (vec_push(&walk->waiting, path) < 0)
		free(path);
}

static void list_all_list(struct list_all_walk *walk, const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			list_all_add(walk, path, entry->d_name);
	}
	closedir(directory);
}

void list_all_directories(const char *mountpoint)
{
	struct list_all_walk walk = { { 0 } };

	list_all_list(&walk, mountpoint);
	while (walk.waiting.count > 0) {
		CLEANUP(cleanup_free) char *path = walk.waiting.items[--walk.waiting.count];

		list_all_list(&walk, path);
	}
	vec_free(&walk.waiting);
}
