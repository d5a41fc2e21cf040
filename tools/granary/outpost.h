/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outpost.h: the files of `granary extract`: who has the rights to make them sees no
 * stranger's bytes but names and attributes, and who works on the bytes makes no file.
 *
 * The parent of a child without rights (apart.h) makes folders, files and links
 * (landing.h), and hands out descriptors of files that nobody sees yet. The child writes
 * into these, and says what becomes of them. Each of its threads has a channel, and the
 * parent a thread for that: storage where a file takes long to make is used in parallel.
 *
 * The parent believes nothing: names are looked at, folders are those that it has been
 * told of itself, modes are permission bits, extended attributes are user.*.
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
 * For this destination; so many channels, and folders at most. NULL: out of memory. What a
 * child that died had begun goes with outpost_free.
 */
struct outpost *outpost_new(const char *destination, enum landing_existing existing,
			    unsigned channels, uint32_t folders_most);
void outpost_free(struct outpost *outpost);

/* For apart_run: `context` is the outpost. */
int outpost_serve(void *context, const struct hatch_question *question,
		  struct hatch_answer *answer);

/* ---- The child ---- */

/* Of a file or a folder that has been made. */
struct outpost_attributes {
	uint32_t mode, mtime_ns;
	int64_t mtime;
};

/* Before all: opens the destination, which may be *made. 0 or -errno and a sentence. */
int outpost_open(uint32_t folders, bool *made, struct error *e);

/*
 * Folders are numbers; 0 is the destination. A folder's parent has been told before it.
 * All return 0 or a negative errno, as landing.h has them.
 */
int outpost_folder(uint32_t folder, uint32_t parent, const char *name, size_t length,
		   bool *made);

/* A file on a channel, from 0; the descriptor is the caller's, to be closed before. */
int outpost_begin(unsigned channel, uint32_t folder, const char *name, int *fd);
int outpost_publish(unsigned channel, const struct outpost_attributes *attributes);
void outpost_drop(unsigned channel);

/* On channel 0. A folder that is begun is published, too: with its attributes. */
int outpost_begin_folder(uint32_t folder);
int outpost_symlink(uint32_t folder, const char *name, const char *target,
		    const struct outpost_attributes *attributes);
int outpost_link(uint32_t from, const char *first, const struct tree_stat *st,
		 uint32_t folder, const char *name);

/* Of what has been begun: user.* and nothing else. */
int outpost_xattr(unsigned channel, const char *name, const void *value, size_t size);

#endif
