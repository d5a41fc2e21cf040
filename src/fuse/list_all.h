/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_all.h: lists all directories of the mount once: the page cache can take bytes only
 * of files that the kernel has looked up. Private to fuse/.
 */
#ifndef GRANARY_FUSE_LIST_ALL_H
#define GRANARY_FUSE_LIST_ALL_H

/*
 * Runs in a thread that answers no requests, for listings send requests to this process.
 * Keeps the filesystem in use. Directories that cannot be listed are skipped.
 */
void list_all_directories(const char *mountpoint);

#endif
