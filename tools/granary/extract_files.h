/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * extract_files.h: makes the files of `granary extract`. The parent makes files, and sees
 * only names and attributes; the child decodes packed bytes, and makes no file.
 *
 * The parent of a child without rights (sandbox_child.h) makes directories, files and
 * links (safe_output.h), and sends descriptors of files without a name. The child writes
 * into these, and publishes them. Each thread of the child has a channel, which a thread
 * of the parent serves.
 *
 * The parent trusts no order: it checks names, knows only directories of earlier orders,
 * and sets only permission bits and user.* attributes.
 */
#ifndef GRANARY_TOOL_EXTRACT_FILES_H
#define GRANARY_TOOL_EXTRACT_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "safe_output.h"
#include "os/broker.h"

/* ---- The parent ---- */

struct extract_files;

/*
 * For a destination, with so many channels and at most so many directories. NULL: out of
 * memory. extract_files_free removes the temporary files of a child that died.
 */
struct extract_files *extract_files_new(const char *destination,
					enum existing_policy existing,
					unsigned channels, uint32_t directories_most);
void extract_files_free(struct extract_files *files);

/* For sandbox_child_run: `context` is the struct extract_files. */
int extract_files_serve(void *context, const struct broker_request *question,
			struct broker_reply *answer);

/* ---- The child ---- */

/* Of a file or directory that is published. */
struct extract_files_attributes {
	uint32_t mode, mtime_ns;
	int64_t mtime;
};

/* Call it first: opens the destination, or makes it (*made). 0, or -errno and *e. */
int extract_files_open(uint32_t directories, bool *made, struct error *e);

/*
 * Directories have numbers; 0 is the destination. A parent is made before its children.
 * Functions return 0 or a negative errno, as in safe_output.h.
 */
int extract_files_directory(uint32_t directory, uint32_t parent, const char *name,
			 size_t length, bool *made);

/* A file on a channel, from 0. The caller closes *fd before it publishes. */
int extract_files_begin(unsigned channel, uint32_t directory, const char *name, int *fd);
int extract_files_publish(unsigned channel,
			  const struct extract_files_attributes *attributes);
void extract_files_drop(unsigned channel);

/* On channel 0. extract_files_publish ends a directory too, and sets its attributes. */
int extract_files_begin_directory(uint32_t directory);
int extract_files_symlink(uint32_t directory, const char *name, const char *target,
			  const struct extract_files_attributes *attributes);
int extract_files_link(uint32_t from, const char *first, const struct tree_stat *st,
		       uint32_t directory, const char *name);

/* For the file or directory that was begun; user.* only. */
int extract_files_xattr(unsigned channel, const char *name, const void *value,
			size_t size);

#endif
