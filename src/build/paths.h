/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.h: splits paths as archives write them.
 *
 * Pure functions on NUL-terminated bytes. `.` and empty components are ignored; several
 * slashes count as one.
 */
#ifndef GRANARY_BUILD_PATHS_H
#define GRANARY_BUILD_PATHS_H

#include <stdbool.h>
#include <stddef.h>

struct path_split {
	const char *path;
	size_t parents;     /* bytes of path before the leaf */
	const char *leaf;   /* the last component that is not ignored */
	size_t leaf_length; /* 0: the path names its base directory */
};

/* Is the component ignored: empty, or `.`? */
bool path_is_dot(const char *text, size_t length);

/* Sets the length of the component at `at`; returns the next component. */
const char *path_next(const char *at, size_t *length);

/* The safe part of a path: behind the last `..`, without leading slashes. */
const char *path_safe(const char *path);

/*
 * Is the path short, without components that are empty or begin with a point? Such a
 * path, the usual one, is safe, fits, and is not reserved.
 */
bool path_is_plain(const char *path);

struct path_split path_split(const char *path);

/* Is every component at most `limit` bytes long? */
bool path_fits(const char *path, size_t limit);

#define PATH_RESERVED ".granaryfs"

/* Is it PATH_RESERVED, which the daemon uses at the root of a mount, or below? */
bool path_is_reserved(const char *path);

#endif
