/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/tar_suffixes.h"

#include <string.h>
#include <strings.h>

static const char *const tar_suffixes[] = {
	".tar",    ".tar.gz",  ".tgz",  ".tar.zst", ".tzst",   ".tar.xz",
	".txz",    ".tar.bz2", ".tbz2", ".tbz",     ".tar.lz4",
};

size_t tar_suffix_length(const char *path, size_t n)
{
	for (size_t i = 0; i < sizeof(tar_suffixes) / sizeof(*tar_suffixes); i++) {
		size_t length = strlen(tar_suffixes[i]);

		if (n > length && path[n - length - 1] != '/' &&
		    strncasecmp(path + n - length, tar_suffixes[i], length) == 0)
			return length;
	}
	return 0;
}
