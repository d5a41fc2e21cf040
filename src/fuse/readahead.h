/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readahead.h: the kernel's readahead in files of the mount. Private to fuse/.
 *
 * The default is 128 KiB, which INIT can only lower. Root can raise it by sysfs.
 */
#ifndef GRANARY_FUSE_READAHEAD_H
#define GRANARY_FUSE_READAHEAD_H

/*
 * Raises it for the FUSE filesystem of this minor device number (major 0), for files that
 * are opened later. Never lowers it. Without the right, or sysfs, it stays as it is, with
 * a debug line in the log.
 */
void readahead_raise(unsigned minor);

#endif
