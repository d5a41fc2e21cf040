/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h: is every node of a tree sound? Private to index/.
 *
 * The accessors never trust a tree; this looks for what they would trip over,
 * all of it, and is linear in the tree.
 */
#ifndef GRANARY_INDEX_CHECK_H
#define GRANARY_INDEX_CHECK_H

#include "base/error.h"
#include "index/tree.h"

/* 0, or -EBADMSG with a sentence about the first fault. */
int tree_check(const struct tree *tree, struct error *e);

/* Are the checksums of blocks as many as its files need, where they are looked for? */
bool blocks_are_sound(const struct tree *tree);

#endif
