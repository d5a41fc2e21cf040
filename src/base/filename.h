/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * filename.h: a file's own name, and that of the folder it is in.
 */
#ifndef GRANARY_BASE_FILENAME_H
#define GRANARY_BASE_FILENAME_H

#include <stddef.h>
#include <string.h>

/* What follows the last slash of `path`, within it. */
static inline const char *filename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The own name of the folder that `path` lies in: its length, 0 if there is none. */
static inline size_t folder_name_of(const char *path, const char **out)
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
