/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_all.h: has the kernel look up all files, by listings: its page cache can take bytes
 * only of files that it knows. Private to fuse/.
 */
#ifndef GRANARY_FUSE_LIST_ALL_H
#define GRANARY_FUSE_LIST_ALL_H

#include "fuse/ops.h"

/*
 * Lists each directory of the mount with a file that the kernel does not know. A child
 * process does it, for some minutes at most, and keeps the filesystem in use. Directories
 * that cannot be listed are skipped; all are where listings bring no inodes along.
 *
 * Threads: one that answers no requests, since listings are requests to this process.
 */
void list_all_directories(const struct served *served, const char *mountpoint);

#endif
