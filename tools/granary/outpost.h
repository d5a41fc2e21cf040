/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outpost.h: makes the files of `granary extract`. The parent makes files, and sees only
 * names and attributes; the child decodes packed bytes, and makes no file.
 *
 * The parent of a child without rights (apart.h) makes folders, files and links
 * (landing.h), and sends descriptors of files without a name. The child writes into
 * these, and publishes them. Each thread of the child has a channel, which a thread of
 * the parent serves.
 *
 * The parent trusts no order: it checks names, knows only folders of earlier orders, and
 * sets only permission bits and user.* attributes.
 */
#ifndef GRANARY_TOOL_OUTPOST_H
#define GRANARY_TOOL_OUTPOST_H

#include <stdbool.h>
#include <stdint.h>

#include "landing.h"
#include "os/hatch.h"

/* ---- The parent ---- */

struct outpost;

/*
 * For a destination, with so many channels and at most so many folders. NULL: out of
 * memory. outpost_free removes the temporary files of a child that died.
 */
struct outpost *outpost_new(const char *destination, enum landing_existing existing,
			    unsigned channels, uint32_t folders_most);
void outpost_free(struct outpost *outpost);

/* For apart_run: `context` is the outpost. */
int outpost_serve(void *context, const struct hatch_question *question,
		  struct hatch_answer *answer);

/* ---- The child ---- */

/* Of a file or folder that is published. */
struct outpost_attributes {
	uint32_t mode, mtime_ns;
	int64_t mtime;
};

/* Call it first: opens the destination, or makes it (*made). 0, or -errno and *e. */
int outpost_open(uint32_t folders, bool *made, struct error *e);

/*
 * Folders have numbers; 0 is the destination. A parent is made before its children.
 * Functions return 0 or a negative errno, as in landing.h.
 */
int outpost_folder(uint32_t folder, uint32_t parent, const char *name, size_t length,
		   bool *made);

/* A file on a channel, from 0. The caller closes *fd before it publishes. */
int outpost_begin(unsigned channel, uint32_t folder, const char *name, int *fd);
int outpost_publish(unsigned channel, const struct outpost_attributes *attributes);
void outpost_drop(unsigned channel);

/* On channel 0. outpost_publish ends a folder too, and sets its attributes. */
int outpost_begin_folder(uint32_t folder);
int outpost_symlink(uint32_t folder, const char *name, const char *target,
		    const struct outpost_attributes *attributes);
int outpost_link(uint32_t from, const char *first, const struct tree_stat *st,
		 uint32_t folder, const char *name);

/* For the file or folder that was begun; user.* only. */
int outpost_xattr(unsigned channel, const char *name, const void *value, size_t size);

#endif
