/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_all.h: lists all directories of the mount once, so that the kernel knows every file
 * before somebody looks for it: only then can it be given a file's bytes. Private to
 * fuse/.
 */
#ifndef GRANARY_FUSE_LIST_ALL_H
#define GRANARY_FUSE_LIST_ALL_H

/*
 * In a thread that answers no requests: these come back to the same process. While a
 * directory is open, the filesystem is in use. What cannot be listed is left out.
 */
void walk_mount(const char *mountpoint);

#endif
