/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/readonly.h"

#include <errno.h>

#include "stats/stats.h"

static void readonly_refuse(fuse_req_t req)
{
	stats_add(COUNTER_fuse_write, 1);
	fuse_reply_err(req, EROFS);
}

/* Parameters without use in a refusal. */
#define UNUSED __attribute__((unused))

void refuse_setattr(fuse_req_t req, fuse_ino_t ino UNUSED, struct stat *attr UNUSED,
		    int to_set UNUSED, struct fuse_file_info *fi UNUSED)
{
	readonly_refuse(req);
}

void refuse_mknod(fuse_req_t req, fuse_ino_t parent UNUSED, const char *name UNUSED,
		  mode_t mode UNUSED, dev_t rdev UNUSED)
{
	readonly_refuse(req);
}

void refuse_mkdir(fuse_req_t req, fuse_ino_t parent UNUSED, const char *name UNUSED,
		  mode_t mode UNUSED)
{
	readonly_refuse(req);
}

void refuse_remove(fuse_req_t req, fuse_ino_t parent UNUSED, const char *name UNUSED)
{
	readonly_refuse(req);
}

void refuse_symlink(fuse_req_t req, const char *target UNUSED, fuse_ino_t parent UNUSED,
		    const char *name UNUSED)
{
	readonly_refuse(req);
}

void refuse_rename(fuse_req_t req, fuse_ino_t parent UNUSED, const char *name UNUSED,
		   fuse_ino_t new_parent UNUSED, const char *new_name UNUSED,
		   unsigned flags UNUSED)
{
	readonly_refuse(req);
}

void refuse_link(fuse_req_t req, fuse_ino_t ino UNUSED, fuse_ino_t parent UNUSED,
		 const char *name UNUSED)
{
	readonly_refuse(req);
}

void refuse_write(fuse_req_t req, fuse_ino_t ino UNUSED, const char *bytes UNUSED,
		  size_t size UNUSED, off_t offset UNUSED,
		  struct fuse_file_info *fi UNUSED)
{
	readonly_refuse(req);
}

void refuse_setxattr(fuse_req_t req, fuse_ino_t ino UNUSED, const char *name UNUSED,
		     const char *value UNUSED, size_t size UNUSED, int flags UNUSED)
{
	readonly_refuse(req);
}

void refuse_removexattr(fuse_req_t req, fuse_ino_t ino UNUSED, const char *name UNUSED)
{
	readonly_refuse(req);
}

void refuse_create(fuse_req_t req, fuse_ino_t parent UNUSED, const char *name UNUSED,
		   mode_t mode UNUSED, struct fuse_file_info *fi UNUSED)
{
	readonly_refuse(req);
}

void refuse_fallocate(fuse_req_t req, fuse_ino_t ino UNUSED, int mode UNUSED,
		      off_t offset UNUSED, off_t length UNUSED,
		      struct fuse_file_info *fi UNUSED)
{
	readonly_refuse(req);
}
