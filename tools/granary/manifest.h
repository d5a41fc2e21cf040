/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * manifest.h: SHA-256 of files, in the format of sha256sum(1): a line a file, 64
 * hexadecimal digits, two blanks (or a blank and an asterisk), and the path. Where a path
 * holds a backslash, a line feed or a carriage return, those are written `\\`, `\n` and
 * `\r`, and the line begins with a backslash.
 *
 * Memory: 33 bytes a name of the tree.
 *
 * Threads: manifest_bytes and manifest_file by any number, each with a worker of its
 * own; the others by one.
 */
#ifndef GRANARY_TOOL_MANIFEST_H
#define GRANARY_TOOL_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "mismatches.h"
#include "index/tree.h"
#include "base/error.h"
#include "os/broker.h"
#include "os/place.h"

struct manifest;

/* The library that this build lacks for manifests, and how to get it; or NULL. */
const char *manifest_needs(void);

/* For a tree, which must outlive it. NULL: out of memory. */
struct manifest *manifest_new(const struct tree *tree, struct mismatches *findings);
void manifest_free(struct manifest *manifest);

/*
 * Reads the manifest to compare with. Takes ownership of `fd`, which may be the negative
 * errno of open instead. Files that it lists and the tree lacks become findings. 0, or a
 * negative errno and *e: also if it is no manifest.
 */
int manifest_read(struct manifest *manifest, int fd, const char *path, struct error *e);

/* A file's bytes, in order; manifest_file ends the file. */
void manifest_bytes(struct manifest *manifest, unsigned worker, uint64_t offset,
		    const void *bytes, size_t length);
void manifest_file(struct manifest *manifest, unsigned worker, uint32_t node, uint64_t size);

/* Files that were read and that the manifest does not list. */
uint64_t manifest_unlisted(const struct manifest *manifest);

/*
 * Writes all digests under a temporary name, then renames: 0 or a negative errno. In a
 * child (sandbox_child.h), whose parent answers by manifest_serve and opens the files.
 */
int manifest_write(const struct manifest *manifest, const char *path, struct error *e);

/* In the parent. */
struct manifest_place {
	const char *path;    /* NULL: none is wanted */
	struct place *place; /* owned, while one is being made */
	char temporary[PLACE_TEMPORARY_BYTES]; /* "": none has been begun */
	int fd;              /* -1 at first */
};

/* Answers questions from MANIFEST_KINDS on. */
enum { MANIFEST_KINDS = 16 };
int manifest_serve(struct manifest_place *place, const struct broker_request *question,
		   struct broker_reply *answer);

/* Removes the temporary file, if there is one. */
void manifest_remove_temporary(struct manifest_place *place);

#endif
