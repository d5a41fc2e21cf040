/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/image_suffixes.h"

#include <string.h>
#include <strings.h>

static const char *const suffixes[] = {
	"jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "ppm", "pgm", "pbm", "npy",
};

bool name_has_image_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strcasecmp(dot + 1, suffixes[i]) == 0)
			return true;
	return false;
}
