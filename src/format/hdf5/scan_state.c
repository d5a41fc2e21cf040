/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/scan_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "build/findings.h"
#include "format/limits.h"

enum {
	MISSING_CHUNKS = 1 << 22, /* that are looked for in vain, in one file */
	EMPTY_ROWS = 1 << 20,	  /* that need no room in the file */
	DECODED_FREE = 1 << 30,   /* of tables, labels and names, and for each */
	DECODED_A_BYTE = 64,      /* byte of the file so many */
};

#define FILL_BYTES (UINT64_C(1) << 30) /* of fill values, in one file */

/* Stored bytes lie in the file once, but tables of rows are read twice. */
static void set_budgets(struct hdf5_walk *walk)
{
	uint64_t length = walk->scan->length; /* < 2^63, as files are */

	walk->stored_budget = 2 * length;
	walk->row_budget = length / HDF5_HEAP_HEADER + EMPTY_ROWS;
	if (!checked_mul(length, DECODED_A_BYTE, &walk->decoded_budget) ||
	    !checked_add(walk->decoded_budget, DECODED_FREE, &walk->decoded_budget))
		walk->decoded_budget = UINT64_MAX;
	walk->missing_budget = MISSING_CHUNKS;
	walk->fill_budget = FILL_BYTES;
}

int hdf5_walk_open(struct hdf5_walk *walk, struct scan *scan, struct error *e)
{
	int err;

	walk->scan = scan;
	walk->e = e;
	set_budgets(walk);
	err = hdf5_file_open(&walk->file, scan->source, scan->base, scan->length);
	if (err)
		return hdf5_refuse_library(walk, "cannot open");
	hdf5_heap_open(&walk->heap, &walk->file.blocks, walk->file.base);
	return 0;
}

void hdf5_walk_close(struct hdf5_walk *walk)
{
	hdf5_heap_close(&walk->heap);
	hdf5_file_close(&walk->file);
	vec_free(&walk->path);
	vec_free(&walk->extents);
	vec_free(&walk->seen);
	for (size_t i = 0; i < walk->empty.count; i++)
		free(walk->empty.items[i].path);
	vec_free(&walk->empty);
	idmap_free(&walk->seen_by_address);
}

int hdf5_out_of_memory(struct hdf5_walk *walk)
{
	return format_no_memory(walk->scan->label, walk->e);
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

/* HDF5 2.0 writes layouts (version 5) that no library before it reads. */
static int refuse_newer(struct hdf5_walk *walk, const char *what, const char *reason)
{
	unsigned major = 0, minor = 0, patch = 0;
	const char *label = walk->scan->label;

	H5get_libversion(&major, &minor, &patch);
	return error_set(walk->e, ERROR_DATASET, EBADMSG,
			 "'%s' is in a newer version of the format than libhdf5 %u.%u.%u reads "
			 "here, as HDF5 2.0 writes it with libver='latest': %s '%.200s': HDF5 "
			 "says: %s; write it with libver=(\"earliest\", \"v114\"), or copy it with "
			 "the h5py that wrote it: python3 -c 'import h5py,sys; "
			 "i,o=h5py.File(sys.argv[1]),h5py.File(sys.argv[2],\"w\",libver=(\"earliest\","
			 "\"v114\")); i.visititems(lambda n,x: None if isinstance(x,h5py.Group) else "
			 "(o.create_dataset(n,data=x[()],dtype=x.dtype),None)[1])' '%s' out.h5",
			 label, major, minor, patch, what,
			 walk->path.count ? walk->path.items : "/", reason, label);
}

int hdf5_refuse_library(struct hdf5_walk *walk, const char *what)
{
	char reason[300];

	if (walk->file.blocks.err)
		return format_unreadable(walk->scan->label, walk->file.blocks.err,
					 walk->e);
	hdf5_file_reason(reason, sizeof(reason));
	if (strstr(reason, "bad version number for layout message"))
		return refuse_newer(walk, what, reason);
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
