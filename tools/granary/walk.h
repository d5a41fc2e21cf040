/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walk.h: every name of a tree, directories before what is in them, each directory's
 * names in the order of their bytes.
 */
#ifndef GRANARY_TOOL_WALK_H
#define GRANARY_TOOL_WALK_H

#include <stdint.h>

#include "index/tree.h"

struct walk_name {
	const char *path; /* from the root; NUL-terminated, until the next one */
	uint32_t node;    /* of a further name of a file, that of the first */
	enum tree_kind kind;
};

/* 0: go on; 1: not into this directory; a negative errno ends the walk. */
typedef int walk_visit(void *context, const struct walk_name *name);

/* 0, -EIO where the index makes no sense, -ENOMEM, or what `visit` ended it with. */
int walk_names(const struct tree *tree, walk_visit *visit, void *context);

#endif
