/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * control.h: the hidden directory .granaryfs at the root of a mount, with the counters
 * and options as files. Private to fuse/.
 *
 * The directory is not in the tree: its inode numbers are above those of any tree, and
 * equal in all mounts and servers. Its functions read no storage, take no lock and never
 * wait, so they answer when storage hangs.
 *
 * Each read makes the text anew. The kernel caches the text, but must look the file up
 * each time, and drops the cached text because the time of change differs.
 *
 * Threads: control_init before any are started; any may call the others.
 */
#ifndef GRANARY_FUSE_CONTROL_H
#define GRANARY_FUSE_CONTROL_H

#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>

#include "fuse/ops.h"

#define CONTROL_NAME ".granaryfs"

/*
 * Measures the files, and warns if the tree has the same name at its root, which is
 * hidden then.
 */
void control_init(const struct served *served);

/* Measures again, once the kernel's terms are known; before threads are started. */
void control_measure(const struct served *served);

/* Is this inode the directory or one of its files? */
bool control_owns(uint64_t ino);

/* Is a request, as received, for the directory or its files? */
bool control_is_request(const struct fuse_in_header *request);

/*
 * Answer and count requests. False: the request is for another inode or name, and was not
 * answered.
 */
bool control_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
bool control_getattr(fuse_req_t req, fuse_ino_t ino);
bool control_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset);
bool control_list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus);

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 8)
/* Not counted. */
bool control_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence);
#endif

#endif
