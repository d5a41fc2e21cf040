/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/naming.h"

#include <string.h>

#include "base/filename.h"
#include "names/image_suffixes.h"

const char *naming_extension(const char *path)
{
	const char *name = filename_of(path), *dot = strrchr(name, '.');

	return dot && dot != name && dot[1] ? dot + 1 : NULL;
}

bool naming_is_image(const char *path)
{
	const char *extension = naming_extension(path);

	return extension && image_suffix(extension) & SUFFIX_DECODED;
}

/* The first entry that does not sort before `path`. */
static size_t lower_bound(const struct pack_scan *scan, const char *path)
{
	size_t low = 0, high = scan->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pack_path_compare(scan->entries[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Would `path` be, or become, stem.ppm? `length`: of the stem and its dot. */
static bool is_rival(const char *path, size_t length)
{
	if (strcmp(path + length, "ppm") == 0)
		return true;
	return !strpbrk(path + length, "./") && naming_is_image(path);
}

/* Entries that begin with the stem and its dot are adjacent. */
static bool has_rival(const struct pack_scan *scan, size_t i, const char *stem)
{
	size_t length = strlen(stem);

	for (size_t k = lower_bound(scan, stem); k < scan->count; k++) {
		const char *path = scan->entries[k].path;

		if (strncmp(path, stem, length) != 0)
			return false;
		if (k != i && is_rival(path, length))
			return true;
	}
	return false;
}

const char *naming_decoded(const struct pack_scan *scan, size_t i, struct arena *arena)
{
	const char *path = scan->entries[i].path;
	size_t stem = (size_t)(naming_extension(path) - path);
	char *out = arena_print(arena, "%.*sppm", (int)stem, path);

	if (!out)
		return NULL;
	out[stem] = '\0';
	if (has_rival(scan, i, out))
		return arena_print(arena, "%s.ppm", path);
	out[stem] = 'p';
	return out;
}
