/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * original.h: the tree that a dataset was packed from, by paths of any length.
 *
 * Paths are from the tree's root, without a leading slash. Symbolic links are never
 * followed. Results are 0 or a negative errno. Who calls these has no rights, and asks the
 * parent (apart.h), which answers by original_serve.
 */
#ifndef GRANARY_TOOL_ORIGINAL_H
#define GRANARY_TOOL_ORIGINAL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "os/hatch.h"

int original_stat(const char *path, struct stat *st);
int original_readlink(const char *path, char target[PATH_MAX]);

/* For reading; what is a pipe by now does not block. A descriptor. */
int original_open(const char *path);

/*
 * Every name below the root, those of a folder by their bytes, and before what is in
 * it. `error` is 0, or why it cannot be looked at. False: what is below it is left out.
 */
typedef bool original_visit(void *context, const char *path, mode_t mode, int error);
int original_walk(original_visit *visit, void *context);

/* In the parent; `root` is a descriptor of the root's folder. Nothing above it is shown. */
enum { ORIGINAL_KINDS = 3 };
int original_serve(int root, const struct hatch_question *question,
		   struct hatch_answer *answer);

#endif
