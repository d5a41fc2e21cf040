/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walk.h: visits every name of a tree, a directory before its names, and these in the
 * order of their bytes.
 */
#ifndef GRANARY_TOOL_WALK_H
#define GRANARY_TOOL_WALK_H

#include <stdint.h>

#include "index/tree.h"

struct walk_name {
	const char *path; /* from the root; valid until the next visit */
	uint32_t node;    /* a hard link has the node of the first name */
	enum tree_kind kind;
};

/* 0: go on; 1: skip this directory; a negative errno ends the walk. */
typedef int walk_visit(void *context, const struct walk_name *name);

/* 0, -EIO for a damaged index, -ENOMEM, or the negative errno of `visit`. */
int walk_names(const struct tree *tree, walk_visit *visit, void *context);

#endif
