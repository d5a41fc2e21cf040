/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * control.h: the directory .granaryfs at the root of a mount, which no listing shows:
 * the counters and the options, as files. Private to fuse/.
 *
 * It is not in the tree: its inode numbers lie above all that a tree can have, and are
 * the same in every mount and every server. Nothing here looks at storage, takes a lock
 * or waits, so it answers when nothing else does.
 *
 * No text is kept: each read makes it anew. The kernel caches it, but has to look up
 * again each time, and drops what it had since the time of change is then another one.
 *
 * Threads: control_init before there are any; the others by all of them.
 */
#ifndef GRANARY_FUSE_CONTROL_H
#define GRANARY_FUSE_CONTROL_H

#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>

#include "fuse/ops.h"

#define CONTROL_NAME ".granaryfs"

/*
 * Learns how large the files are, and warns if the tree has something of that name at
 * its root, which cannot be seen then.
 */
void control_init(const struct served *served);

/* Learns it again, when the kernel's terms are known; before there are threads. */
void control_measure(const struct served *served);

/* Is this the number of the directory or one of its files? */
bool control_owns(uint64_t ino);

/* Is a request, as it was received, about it? */
bool control_is_meant(const struct fuse_in_header *request);

/*
 * The answers to requests. False: it is none of ours, and nothing was done. Otherwise
 * it has been answered, and counted.
 */
bool control_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
bool control_getattr(fuse_req_t req, fuse_ino_t ino);
bool control_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset);
bool control_list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus);

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 8)
/* This one does not count. */
bool control_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence);
#endif

#endif
