/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/scan_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "build/findings.h"
#include "format/limits.h"

int hdf5_out_of_memory(struct hdf5_walk *walk)
{
	return format_no_memory(walk->scan->label, walk->e);
}

void hdf5_tell(struct hdf5_walk *walk, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (walk->scan->findings)
		findings_add(walk->scan->findings, "%s", text);
}

int hdf5_refuse_read(struct hdf5_walk *walk, int err)
{
	if (err == -ENOMEM)
		return hdf5_out_of_memory(walk);
	if (walk->file.blocks.err)
		return format_unreadable(walk->scan->label, walk->file.blocks.err,
					 walk->e);
	return hdf5_refuse(walk, "is damaged: its data lie outside the file; copy the "
				 "file again");
}

int hdf5_refuse_library(struct hdf5_walk *walk, const char *what)
{
	char reason[300];

	if (walk->file.blocks.err)
		return format_unreadable(walk->scan->label, walk->file.blocks.err,
					 walk->e);
	hdf5_file_reason(reason, sizeof(reason));
	return error_set(walk->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged or not for this version: %s '%.200s': HDF5 "
			 "says: %s; copy it again, or look at it with h5dump -H",
			 walk->scan->label, what,
			 walk->path.count ? walk->path.items : "/", reason);
}

int hdf5_refuse(struct hdf5_walk *walk, const char *format, ...)
{
	const char *path = walk->path.count ? walk->path.items : "/";
	const char *slash = strrchr(path, '/'), *beside = walk->beside;
	size_t n = beside && slash ? (size_t)(slash + 1 - path) : strlen(path);
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return error_set(walk->e, ERROR_DATASET, EBADMSG, "'%s': '%.*s%s' %s",
			 walk->scan->label, n < 200 ? (int)n : 200, path,
			 beside ? beside : "", text);
}

int hdf5_charge_paths(struct hdf5_walk *walk, uint64_t n, uint64_t bytes)
{
	uint64_t all;

	if (checked_mul(n, bytes, &all) &&
	    limit_paths(&walk->path_bytes, all, walk->scan->length))
		return 0;
	return hdf5_refuse(walk, "and what comes before it have more bytes of paths in "
				 "all than a file of its size may ask for; give the "
				 "groups shorter names");
}

void hdf5_advance(struct hdf5_walk *walk, uint64_t bytes)
{
	uint64_t rest = walk->scan->length - walk->advanced;

	if (bytes > rest) /* files may share bytes; the window has them once */
		bytes = rest;
	walk->advanced += bytes;
	if (walk->scan->advance)
		walk->scan->advance(walk->scan, bytes);
}
