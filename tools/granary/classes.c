#include "classes.h"

#include <stdio.h>
#include <string.h>

static uint32_t count_directories(const struct tree *tree, uint32_t directory)
{
	struct tree_name name;
	uint32_t n = 0;

	for (uint32_t i = 0; tree_child(tree, directory, i, &name) == 0; i++)
		n += name.kind == TREE_DIRECTORY;
	return n;
}

static bool holds_files(const struct tree *tree, uint32_t directory)
{
	struct tree_name name;

	for (uint32_t i = 0; tree_child(tree, directory, i, &name) == 0; i++)
		if (name.kind != TREE_DIRECTORY)
			return true;
	return false;
}

static void take_directory(const struct tree *tree, const struct tree_name *name,
			   struct classes *out)
{
	uint32_t below;

	out->directories++;
	if (holds_files(tree, name->node)) {
		out->at_root++;
		return;
	}
	below = count_directories(tree, name->node);
	if (below == 0)
		return;
	if (out->splits < CLASSES_SPLITS_MOST) {
		struct classes_split *split = &out->split[out->splits];

		snprintf(split->name, sizeof(split->name), "%.*s", (int)name->length,
			 name->name);
		split->classes = below;
	}
	out->splits++;
}

void classes_count(const struct dataset *dataset, struct classes *out)
{
	const struct tree *tree = dataset_tree(dataset);
	struct tree_name name;

	*out = (struct classes){ 0 };
	for (uint32_t i = 0; tree_child(tree, dataset_root(dataset), i, &name) == 0; i++)
		if (name.kind == TREE_DIRECTORY)
			take_directory(tree, &name, out);
}

uint32_t classes_most(const struct classes *classes)
{
	uint32_t most = classes->at_root;

	for (uint32_t i = 0; i < classes->splits && i < CLASSES_SPLITS_MOST; i++)
		if (classes->split[i].classes > most)
			most = classes->split[i].classes;
	return most;
}
