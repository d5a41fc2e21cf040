/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/image_suffixes.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *suffix;
	unsigned kinds;
} suffixes[] = {
	{ "jpg", SUFFIX_IMAGE | SUFFIX_LOADED | SUFFIX_DECODED | SUFFIX_SURE },
	{ "jpeg", SUFFIX_IMAGE | SUFFIX_LOADED | SUFFIX_DECODED },
	{ "jpe", SUFFIX_IMAGE | SUFFIX_DECODED },
	{ "jfif", SUFFIX_IMAGE | SUFFIX_DECODED },
	{ "png", SUFFIX_IMAGE | SUFFIX_LOADED | SUFFIX_DECODED | SUFFIX_SURE },
	{ "webp", SUFFIX_IMAGE | SUFFIX_LOADED | SUFFIX_SURE },
	{ "gif", SUFFIX_IMAGE | SUFFIX_SURE },
	{ "tif", SUFFIX_IMAGE | SUFFIX_LOADED | SUFFIX_SURE },
	{ "tiff", SUFFIX_IMAGE | SUFFIX_LOADED },
	{ "bmp", SUFFIX_IMAGE | SUFFIX_LOADED },
	{ "ppm", SUFFIX_IMAGE | SUFFIX_LOADED },
	{ "pgm", SUFFIX_IMAGE | SUFFIX_LOADED },
	{ "pbm", SUFFIX_IMAGE },
	{ "img", SUFFIX_VAGUE },
	{ "image", SUFFIX_VAGUE },
	{ "npy", SUFFIX_ARRAY },
};

unsigned image_suffix(const char *suffix)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strcasecmp(suffix, suffixes[i].suffix) == 0)
			return suffixes[i].kinds;
	return 0;
}

bool name_has_image_suffix(const char *name, unsigned kinds)
{
	const char *dot = strrchr(name, '.');

	return dot && image_suffix(dot + 1) & kinds;
}
