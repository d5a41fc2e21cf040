/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/paths.h"

#include <string.h>

bool path_is_dot(const char *text, size_t length)
{
	return length == 0 || (length == 1 && text[0] == '.');
}

const char *path_next(const char *at, size_t *length)
{
	const char *next = strchrnul(at, '/');

	*length = (size_t)(next - at);
	while (*next == '/')
		next++;
	return next;
}

bool path_is_plain(const char *path)
{
	char before = '/';
	size_t n = 0;

	for (; path[n]; before = path[n++])
		if (before == '/' && (path[n] == '/' || path[n] == '.'))
			return false;
	return n > 0 && n < 256;
}

const char *path_safe(const char *path)
{
	const char *safe = path;
	size_t length;

	for (const char *at = path; *at;) {
		const char *next = path_next(at, &length);

		if (length == 2 && at[0] == '.' && at[1] == '.')
			safe = at + 2;
		at = next;
	}
	return safe + strspn(safe, "/");
}

struct path_split path_split(const char *path)
{
	struct path_split split = { .path = path };
	size_t length;

	for (const char *at = path; *at;) {
		const char *next = path_next(at, &length);

		if (!path_is_dot(at, length)) {
			split.leaf = at;
			split.leaf_length = length;
			split.parents = (size_t)(at - path);
		}
		at = next;
	}
	return split;
}

bool path_fits(const char *path, size_t limit)
{
	size_t length;

	while (*path) {
		path = path_next(path, &length);
		if (length > limit)
			return false;
	}
	return true;
}

bool path_is_reserved(const char *path)
{
	static const char reserved[] = PATH_RESERVED;
	size_t length;

	while (*path) {
		const char *next = path_next(path, &length);

		if (!path_is_dot(path, length))
			return length == strlen(reserved) &&
			       memcmp(path, reserved, length) == 0;
		path = next;
	}
	return false;
}
