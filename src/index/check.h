/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h: checks every node of a tree. Private to index/.
 *
 * Accessors check only the data that they read; this checks all, in linear time.
 */
#ifndef GRANARY_INDEX_CHECK_H
#define GRANARY_INDEX_CHECK_H

#include "base/error.h"
#include "index/tree.h"

/* 0, or -EBADMSG with a sentence about the first fault. */
int tree_check(const struct tree *tree, struct error *e);

/* Has BLOCKS a checksum for each block of each file, at its place? */
bool block_sums_are_valid(const struct tree *tree);

#endif
