/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readonly.h: refuses requests that change files: EROFS. Private to fuse/, for ops.c.
 *
 * The kernel refuses them for mounts that this program makes, with `ro`. A descriptor
 * that another process passed may belong to a mount without `ro`.
 */
#ifndef GRANARY_FUSE_READONLY_H
#define GRANARY_FUSE_READONLY_H

#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse_lowlevel.h>

#include "stats/stats.h"

/* Of an operation with these parameters, which are of no use in a refusal. */
#define REFUSE(name, ...)                                        \
	static void refuse_##name(fuse_req_t req, __VA_ARGS__)   \
	{                                                        \
		stats_add(COUNTER_fuse_write, 1);                \
		fuse_reply_err(req, EROFS);                      \
	}

REFUSE(setattr, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
REFUSE(mknod, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
REFUSE(mkdir, fuse_ino_t parent, const char *name, mode_t mode)
REFUSE(remove, fuse_ino_t parent, const char *name)
REFUSE(symlink, const char *target, fuse_ino_t parent, const char *name)
REFUSE(rename, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
       const char *new_name, unsigned flags)
REFUSE(link, fuse_ino_t ino, fuse_ino_t parent, const char *name)
REFUSE(write, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
       struct fuse_file_info *fi)
REFUSE(setxattr, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
REFUSE(removexattr, fuse_ino_t ino, const char *name)
REFUSE(create, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
REFUSE(fallocate, fuse_ino_t ino, int mode, off_t offset, off_t length,
       struct fuse_file_info *fi)

#define REFUSING_OPS                       \
	.setattr = refuse_setattr,         \
	.mknod = refuse_mknod,             \
	.mkdir = refuse_mkdir,             \
	.unlink = refuse_remove,           \
	.rmdir = refuse_remove,            \
	.symlink = refuse_symlink,         \
	.rename = refuse_rename,           \
	.link = refuse_link,               \
	.write = refuse_write,             \
	.setxattr = refuse_setxattr,       \
	.removexattr = refuse_removexattr, \
	.create = refuse_create,           \
	.fallocate = refuse_fallocate,

#endif
