/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * select.h: selects names of a tree, in the order of storage.
 *
 * Patterns are those of fnmatch(3), on the path from the root that is shown; `*` matches
 * slashes too. A pattern that matches a directory selects everything below it.
 *
 * Threads: one; any number may read a finished selection.
 */
#ifndef GRANARY_TOOL_SELECT_H
#define GRANARY_TOOL_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "dataset/dataset.h"

struct select_pattern {
	const char *given;
	char *path;  /* owned: without "./", "/" and a slash at the end */
	bool glob;
	bool used;   /* it has matched something */
};

/* A directory that is wanted, or holds a wanted name. */
struct select_directory {
	const char *name;   /* within the index: not NUL-terminated */
	uint8_t length;
	bool wanted;
	uint32_t node;
	uint32_t parent;    /* its number among the directories; of the first: 0 */
};

/* The name of a file or a symbolic link: the child'th of a directory. */
struct select_item {
	uint64_t place;     /* position in storage, to sort by */
	uint32_t directory;    /* its number */
	uint32_t child;
};

/* A further name of the file that `first` names. */
struct select_link {
	uint32_t node;
	struct select_item name, first;
};

struct selection {
	const struct tree *tree;
	VEC(struct select_pattern) patterns;
	VEC(struct select_directory) directories;   /* parents before children */
	VEC(struct select_item) files;       /* in the order of storage */
	VEC(struct select_item) symlinks;
	VEC(struct select_link) links;
	uint64_t bytes;                      /* of the files, holes included */
};

/*
 * Walks the tree that `dataset` shows; without patterns all names are wanted. 0, or a
 * negative errno and *e: also for a name that no directory can hold (the index may be
 * anybody's), and for a pattern that matches nothing. The caller frees *out in any case.
 */
int select_make(const struct dataset *dataset, char *const *patterns, size_t count,
		struct selection *out, struct error *e);
void select_free(struct selection *selection);

/* A name's path from the root, for messages, cut off at the left. Returns `out`. */
char *select_path(const struct selection *selection, uint32_t directory, const char *name,
		  size_t length, char *out, size_t size);

#endif
