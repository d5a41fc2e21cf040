/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filename.h: the name of a file, and of its directory, in a path. */
#ifndef GRANARY_BASE_FILENAME_H
#define GRANARY_BASE_FILENAME_H

#include <stddef.h>
#include <string.h>

/* The part of `path` behind its last slash. */
static inline const char *filename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The last dot of its name and what follows; "": no dot, or only one that the name begins with. */
static inline const char *suffix_of(const char *path)
{
	const char *name = filename_of(path), *dot = strrchr(name, '.');

	return dot && dot > name ? dot : path + strlen(path);
}

/* The name of the directory of `path`: its length, 0 if there is none. */
static inline size_t directory_name_of(const char *path, const char **out)
{
	const char *end = filename_of(path), *begin;

	if (end == path)
		return 0;
	begin = --end;
	while (begin > path && begin[-1] != '/')
		begin--;
	*out = begin;
	return (size_t)(end - begin);
}

#endif
