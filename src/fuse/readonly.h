/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readonly.h: refuses requests that change files: EROFS. Private to fuse/.
 *
 * The kernel refuses them for mounts that this program makes, with `ro`. A descriptor
 * that another process passed may belong to a mount without `ro`.
 */
#ifndef GRANARY_FUSE_READONLY_H
#define GRANARY_FUSE_READONLY_H

#define FUSE_USE_VERSION 31
#include <fuse_lowlevel.h>

void refuse_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		    struct fuse_file_info *fi);
void refuse_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		  dev_t rdev);
void refuse_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void refuse_remove(fuse_req_t req, fuse_ino_t parent, const char *name);
void refuse_symlink(fuse_req_t req, const char *target, fuse_ino_t parent,
		    const char *name);
void refuse_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
		   fuse_ino_t new_parent, const char *new_name, unsigned flags);
void refuse_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void refuse_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size,
		  off_t offset, struct fuse_file_info *fi);
void refuse_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
		     const char *value, size_t size, int flags);
void refuse_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);
void refuse_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		   struct fuse_file_info *fi);
void refuse_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset,
		      off_t length, struct fuse_file_info *fi);

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
