/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/image_suffixes.h"

#include <string.h>
#include <strings.h>

static const char *const suffixes[] = {
	"jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "ppm", "pgm", "pbm", "npy",
};

bool image_suffix_is(const char *suffix, size_t n)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strlen(suffixes[i]) == n && strncasecmp(suffixes[i], suffix, n) == 0)
			return true;
	return false;
}

bool name_has_image_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && image_suffix_is(dot + 1, strlen(dot + 1));
}
