/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filename.h: the name of a file, and of its directory, in a path. */
#ifndef GRANARY_BASE_FILENAME_H
#define GRANARY_BASE_FILENAME_H

#include <ctype.h>
#include <stdbool.h>
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

/* Does it end as the names of files of a type do? "12.5 cm", "v1.0" and "a.2" do not. */
static inline bool filename_has_suffix(const char *path)
{
	const char *dot = strrchr(filename_of(path), '.');
	size_t n = 0;
	bool letters = false;

	for (; dot && isalnum((unsigned char)dot[1 + n]); n++)
		letters |= isalpha((unsigned char)dot[1 + n]) != 0;
	return letters && !dot[1 + n] && n <= 10;
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
