/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/out_format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

enum { NAME_LIST_BYTES = 256 };

static const struct out_format out_formats[] = {
	{ ".tar", &tar_writer, "none" },
	{ ".tar.gz", &tar_writer, "gzip" },
	{ ".tgz", &tar_writer, "gzip" },
	{ ".tar.zst", &tar_writer, "zstd" },
	{ ".tar.xz", &tar_writer, "xz" },
	{ ".sqfs", &squashfs_writer, NULL },
	{ ".squashfs", &squashfs_writer, NULL },
	{ ".h5", &hdf5_writer, NULL },
	{ ".hdf5", &hdf5_writer, NULL },
};

enum { OUT_FORMATS = sizeof(out_formats) / sizeof(*out_formats) };

static bool out_name_ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), n = strlen(end);

	return length > n && strcasecmp(text + length - n, end) == 0;
}

int out_format_find(const struct out_name *name, const char *out,
		    const struct out_format **format, struct error *e)
{
	char known[NAME_LIST_BYTES] = "";
	CLEANUP(cleanup_free) char *text = out_name_path(name, 0);

	if (!text)
		return error_no_memory(e, NULL);
	for (int i = 0; i < OUT_FORMATS; i++) {
		size_t used = strlen(known);

		if (out_name_ends_in(text, out_formats[i].suffix)) {
			*format = &out_formats[i];
			return 0;
		}
		snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
			 out_formats[i].suffix);
	}
	return error_set(e, ERROR_USAGE, EINVAL,
			 "%s: the end of the name says what is made, and this one is not known; "
			 "known are %s", out, known);
}
