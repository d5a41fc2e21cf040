/*
 * original.h: the tree that a dataset was packed from, by paths of any length.
 *
 * Paths are from `root`, a descriptor of its folder, without a leading slash. Symbolic
 * links are never followed. Results are 0 or a negative errno.
 */
#ifndef GRANARY_TOOL_ORIGINAL_H
#define GRANARY_TOOL_ORIGINAL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

int original_stat(int root, const char *path, struct stat *st);
int original_readlink(int root, const char *path, char target[PATH_MAX]);

/* For reading; what is a pipe by now does not block. A descriptor. */
int original_open(int root, const char *path);

/*
 * Every name below the root, those of a folder by their bytes, and before what is in
 * it. `error` is 0, or why it cannot be looked at. False: what is below it is left out.
 */
typedef bool original_visit(void *context, const char *path, mode_t mode, int error);
int original_walk(int root, original_visit *visit, void *context);

#endif
