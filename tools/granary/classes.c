/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "classes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "names/split_words.h"

/* Most names that are visited, and most levels of directories. */
enum { NAMES_MOST = 1 << 20, DEPTH_MOST = 16, PATH_ROOM = DEPTH_MOST * 256 };

struct classes_walk {
	const struct tree *tree;
	struct classes *out;
	uint32_t looked_at;
	char path[PATH_ROOM]; /* of the directory that is visited */
};

/* Counts of a directory's subdirectories. */
struct kinds {
	uint32_t with_files;
	uint32_t between; /* they hold directories only */
	bool splits;      /* one has the name of a split, and holds directories */
};

/* The i-th name of a directory; false past the last one, or after NAMES_MOST names. */
static bool child(struct classes_walk *walk, uint32_t directory, uint32_t i,
		  struct tree_name *name)
{
	if (tree_child(walk->tree, directory, i, name) < 0)
		return false;
	if (walk->looked_at == NAMES_MOST) {
		walk->out->cut = true;
		return false;
	}
	walk->looked_at++;
	return true;
}

/* Does it hold a directory (`directories`), or else anything that is none? */
static bool classes_holds(struct classes_walk *walk, uint32_t directory, bool directories)
{
	struct tree_name name;

	for (uint32_t i = 0; child(walk, directory, i, &name); i++)
		if ((name.kind == TREE_DIRECTORY) == directories)
			return true;
	return false;
}

static struct kinds count_directory(struct classes_walk *walk, uint32_t directory)
{
	struct kinds kinds = { 0 };
	struct tree_name name;

	for (uint32_t i = 0; child(walk, directory, i, &name); i++) {
		bool files;

		if (name.kind != TREE_DIRECTORY)
			continue;
		files = classes_holds(walk, name.node, false);
		if (files)
			kinds.with_files++;
		else if (classes_holds(walk, name.node, true))
			kinds.between++;
		kinds.splits |= split_is_word(name.name, name.length) &&
				classes_holds(walk, name.node, true);
	}
	return kinds;
}

/* A name that is too long keeps its end, which tells splits apart. */
static void classes_add_split(struct classes_walk *walk, uint32_t classes)
{
	struct classes *out = walk->out;
	struct classes_split *split = &out->split[out->splits];
	size_t n = strlen(walk->path), room = sizeof(split->name) - 1;

	if (out->splits++ >= CLASSES_SPLITS_MOST)
		return;
	snprintf(split->name, sizeof(split->name), "%s", walk->path + (n > room ? n - room : 0));
	split->classes = classes;
}

static void count_below(struct classes_walk *walk, uint32_t directory, unsigned depth);

/* A subdirectory of a directory that is not all classes. */
static void classes_add_directory(struct classes_walk *walk,
				  const struct tree_name *name, unsigned depth)
{
	size_t n = strlen(walk->path);

	if (depth == 0 && classes_holds(walk, name->node, false) &&
	    !classes_holds(walk, name->node, true)) {
		walk->out->at_root += !split_is_word(name->name, name->length);
		return;
	}
	if (depth == DEPTH_MOST)
		return;
	snprintf(walk->path + n, sizeof(walk->path) - n, "%s%.*s", n ? "/" : "",
		 (int)name->length, name->name);
	count_below(walk, name->node, depth + 1);
	walk->path[n] = '\0';
}

/*
 * ImageFolder is given a directory whose subdirectories hold files; it ignores files
 * beside them. If most subdirectories hold directories only, or one is a split with
 * classes of its own, ImageFolder is given a directory further below.
 */
static void count_below(struct classes_walk *walk, uint32_t directory, unsigned depth)
{
	struct kinds kinds = count_directory(walk, directory);
	struct tree_name name;

	if (!kinds.splits && kinds.with_files > kinds.between) {
		if (depth)
			classes_add_split(walk, kinds.with_files + kinds.between);
		else
			walk->out->at_root = kinds.with_files + kinds.between;
		return;
	}
	for (uint32_t i = 0; child(walk, directory, i, &name); i++)
		if (name.kind == TREE_DIRECTORY)
			classes_add_directory(walk, &name, depth);
}

void classes_count(const struct dataset *dataset, struct classes *out)
{
	struct classes_walk walk = { .tree = dataset_tree(dataset), .out = out };
	uint32_t root = dataset_root(dataset);
	struct tree_name name;

	*out = (struct classes){ 0 };
	for (uint32_t i = 0; tree_child(walk.tree, root, i, &name) == 0; i++)
		out->directories += name.kind == TREE_DIRECTORY;
	count_below(&walk, root, 0);
}

uint32_t classes_most(const struct classes *classes)
{
	uint32_t most = classes->at_root;

	for (uint32_t i = 0; i < classes->splits && i < CLASSES_SPLITS_MOST; i++)
		if (classes->split[i].classes > most)
			most = classes->split[i].classes;
	return most;
}
