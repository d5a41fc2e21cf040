/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * original.h: the directory that a dataset was packed from, by paths of any length.
 *
 * Paths start at its root, without a leading slash. Symbolic links are never followed.
 * Results are 0 or a negative errno. The callers have no rights: the parent
 * (sandbox_child.h) opens for them, by original_serve.
 */
#ifndef GRANARY_TOOL_ORIGINAL_H
#define GRANARY_TOOL_ORIGINAL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "os/broker.h"

int original_stat(const char *path, struct stat *st);
int original_readlink(const char *path, char target[PATH_MAX]);

/* A descriptor for reading. A pipe does not block. */
int original_open(const char *path);

/*
 * Visits each name below the root, a directory before its names, and these by their
 * bytes. `error`: 0, or why the name cannot be read. Return false to skip a directory's
 * names.
 */
typedef bool original_visit(void *context, const char *path, mode_t mode, int error);
int original_walk(original_visit *visit, void *context);

/* In the parent. `root` is the descriptor of the directory; nothing above it is shown. */
enum { ORIGINAL_KINDS = 3 };
int original_serve(int root, const struct broker_request *question,
		   struct broker_reply *answer);

#endif
