/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/packed_suffixes.h"

#include <string.h>
#include <strings.h>

static const char *const packed_suffixes[] = {
	".tar",	    ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.xz", ".txz",
	".tar.bz2", ".tbz2",   ".tbz", ".tar.lz4", ".zip",  ".npz",
};

static bool has_suffix(const char *path, size_t n, const char *suffix)
{
	size_t length = strlen(suffix);

	return n > length && path[n - length - 1] != '/' &&
	       strncasecmp(path + n - length, suffix, length) == 0;
}

size_t packed_suffix_length(const char *path, size_t n)
{
	for (size_t i = 0; i < sizeof(packed_suffixes) / sizeof(*packed_suffixes); i++)
		if (has_suffix(path, n, packed_suffixes[i]))
			return strlen(packed_suffixes[i]);
	return 0;
}

bool packed_suffix_is_npz(const char *path, size_t n)
{
	return has_suffix(path, n, ".npz");
}
