/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.h: paths as archives write them, taken apart.
 *
 * Pure functions on NUL-terminated bytes; `.` and empty components mean
 * nothing, several slashes are one.
 */
#ifndef GRANARY_BUILD_PATHS_H
#define GRANARY_BUILD_PATHS_H

#include <stdbool.h>
#include <stddef.h>

struct path_split {
	const char *path;
	size_t parents;     /* bytes of path before the leaf */
	const char *leaf;   /* the last component that means something */
	size_t leaf_length; /* 0: the path names its base directory */
};

/* A component that means nothing: empty, or `.`. */
bool path_is_dot(const char *text, size_t length);

/* The component at `at` is *length bytes long; returns where the next begins. */
const char *path_next(const char *at, size_t *length);

/*
 * The part of a path that may be used: what follows the last `..`, without
 * leading slashes.
 */
const char *path_safe(const char *path);

/*
 * Nearly every path: short, and with no component that is empty or begins with a
 * point. All of it is safe, fits, and is not reserved.
 */
bool path_is_plain(const char *path);

struct path_split path_split(const char *path);

/* Is every component at most `limit` bytes long? */
bool path_fits(const char *path, size_t limit);

#define PATH_RESERVED ".granaryfs"

/* Is it that name or below, which is ours at the root of a mount? */
bool path_is_reserved(const char *path);

#endif
