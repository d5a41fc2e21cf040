/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readahead.h: how far the kernel reads ahead in files of the mount. Private to fuse/.
 *
 * It begins with 128 KiB, which the protocol cannot raise: INIT can only lower it. Root
 * can, by sysfs.
 */
#ifndef GRANARY_FUSE_READAHEAD_H
#define GRANARY_FUSE_READAHEAD_H

/*
 * Of the FUSE filesystem whose device has this minor number (and the major 0): for files
 * that are opened from now on. Never lowered. Without the right to do so, or without
 * sysfs, it stays as it is, and a line of the log's debug level says so.
 */
void readahead_raise(unsigned minor);

#endif
