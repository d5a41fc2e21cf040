/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "walk.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"

/* An open directory of the walk. */
struct walk_level {
	uint32_t directory;
	uint32_t next;   /* of its names */
	size_t length;   /* of its path */
};

struct walk {
	const struct tree *tree;
	walk_visit *visit;
	void *context;
	VEC(struct walk_level) levels;
	VEC(char) path;
};

static int set_path(struct walk *w, size_t length, const struct tree_name *name)
{
	size_t at = length ? length + 1 : 0;

	w->path.count = 0;
	if (vec_reserve(&w->path, at + name->length + 1) < 0)
		return -ENOMEM;
	if (length)
		w->path.items[length] = '/';
	memcpy(w->path.items + at, name->name, name->length);
	w->path.items[at + name->length] = '\0';
	return 0;
}

static int visit_name(struct walk *w, const struct walk_level *level,
		      const struct tree_name *name)
{
	struct walk_name out = { .node = name->node, .kind = name->kind };
	int result = set_path(w, level->length, name);

	if (result < 0)
		return result;
	out.path = w->path.items;
	result = w->visit(w->context, &out);
	if (result == 0 && name->kind == TREE_DIRECTORY)
		return vec_push(&w->levels, ((struct walk_level){ .directory = name->node,
							      .length = strlen(out.path) }));
	return result < 0 ? result : 0;
}

int walk_names(const struct tree *tree, walk_visit *visit, void *context)
{
	struct walk w = { .tree = tree, .visit = visit, .context = context };
	int err = vec_push(&w.levels, ((struct walk_level){ .directory = TREE_ROOT }));

	while (!err && w.levels.count) {
		struct walk_level *level = &w.levels.items[w.levels.count - 1];
		struct walk_level copy = *level;
		struct tree_name name;

		err = tree_child(tree, level->directory, level->next++, &name);
		if (err == -ENOENT) {
			w.levels.count--;
			err = 0;
		} else if (!err) {
			err = visit_name(&w, &copy, &name);
		}
	}
	vec_free(&w.levels);
	vec_free(&w.path);
	return err;
}
