/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe.h: the kind, mode and size of a name in the tree, in words, for ls and stat.
 */
#ifndef GRANARY_TOOL_DESCRIBE_H
#define GRANARY_TOOL_DESCRIBE_H

#include "base/json.h"
#include "index/tree.h"

/* "file", "directory", "symlink" */
const char *describe_kind(enum tree_kind kind);

enum { MODE_TEXT_BYTES = 11, HUMAN_TEXT_BYTES = 24 };

/* "-rw-r--r--"; returns `out`. */
const char *describe_mode(const struct tree_stat *st, char out[MODE_TEXT_BYTES]);

/* "110K", "1.3M", as ls -h: rounded up, by powers of 1024; returns `out`. */
const char *describe_size(uint64_t bytes, char out[HUMAN_TEXT_BYTES]);

/* The members that every JSON object of a name has, the path first. */
void describe_json(struct json *json, const struct tree *tree, const char *path,
		   uint32_t node, const struct tree_stat *st);

#endif
