/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * local_file.h: the sources that are local files or block devices. Private to source/.
 */
#ifndef GRANARY_SOURCE_LOCAL_FILE_H
#define GRANARY_SOURCE_LOCAL_FILE_H

#include <stdatomic.h>

#include "source/source_kind.h"

extern const struct source_ops local_file_ops;

/* Constant while open, so without locks, except the last four. */
struct local_file {
	struct source source;
	int fd;
	bool stays_open; /* until the process ends: close may wait for a user */
	_Atomic int64_t failing_until; /* milliseconds; 0: storage does not fail */
	_Atomic unsigned reopenings;
	_Atomic bool streaming; /* the kernel drops bytes that were read, */
	_Atomic bool ours;      /* even those that it held before */
};

/* The local file of a source with local_file_ops. Not const: the last members change. */
static inline struct local_file *local_file_of(const struct source *source)
{
	return (struct local_file *)(uintptr_t)source;
}

/*
 * Opens `path` and describes it; the caller closes the descriptor. `directory`: as of
 * source_open_below.
 */
int file_open(const char *path, size_t directory, int *fd, struct source_info *info,
	      struct error *e);

/* Describes an open file as it is now: 0 or a negative errno. */
int file_describe(int fd, struct source_info *info);

#endif
