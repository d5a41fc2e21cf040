/*
 * filename.h: a file's own name.
 */
#ifndef GRANARY_UTIL_FILENAME_H
#define GRANARY_UTIL_FILENAME_H

#include <string.h>

/* What follows the last slash of `path`, within it. */
static inline const char *filename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
