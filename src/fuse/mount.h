/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mount.h: mounts and unmounts the filesystem. Private to fuse/.
 *
 * With the right to mount (root, or root of a user namespace) by mount(2), for the user
 * whose rights open the packed files; otherwise through fusermount3; or neither, where
 * another process has mounted and passed the connection as /dev/fd/N.
 */
#ifndef GRANARY_FUSE_MOUNT_H
#define GRANARY_FUSE_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "fuse/ops.h"

struct mount {
	char *mountpoint;   /* owned; NULL: nothing is mounted */
	bool ours;          /* false: mounted by another process, /dev/fd/N */
	bool by_helper;     /* through fusermount3 */
	unsigned number;    /* of its connection, unique while that exists */
	int connection;     /* libfuse's */
};

/* The properties of a mount. */
struct mount_wish {
	const char *mountpoint; /* absolute, or /dev/fd/N */
	int directory;          /* the mount point, O_PATH, or -1 */
	const char *source;     /* what the mount table shows */
	uid_t uid;              /* the mount's owner, the only user admitted */
	gid_t gid;
	bool allow_other;       /* admits all users */
	bool noexec;
	const char *context;    /* SELinux's label of all files, or NULL */
};

enum { MOUNT_CONTEXT_MOST = 512 }; /* bytes; all options take at most a page */

/*
 * Unmounts what a dead granaryfs left at the mount point, and mounts. If several
 * processes mount there at once, one succeeds.
 */
int mount_make(const struct mount_wish *wish, struct fuse_session *fuse,
	       struct mount *out, struct error *e);

/*
 * Detach: open files stay readable. Unmount: -EBUSY if in use. Expire: -EAGAIN if used
 * since the last call.
 */
enum mount_removal { MOUNT_DETACH, MOUNT_UNMOUNT, MOUNT_EXPIRE };

/*
 * Starts an unmount in a child, which may wait for long: its process id; 0: done already;
 * or a negative errno. mount_removed takes the child's wait status, or -1 at the
 * deadline: 0; -ESTALE: the mount was gone already; or another negative errno.
 */
pid_t mount_remove(const struct mount *mount, enum mount_removal how);
int mount_removed(const struct mount *mount, int status);

/* Detaches the mount, if it is still there, after an abort or an error. */
void mount_end(struct mount *mount, struct fuse_session *fuse);
void mount_free(struct mount *mount);

/* libfuse's messages go to the log, and during a mount into the error too. */
void mount_log_from_fuse(void);
const char *mount_fuse_message(void);

#endif
