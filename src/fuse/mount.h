/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mount.h: putting the filesystem into the tree, and taking it out. Private to fuse/.
 *
 * With the right to mount (root, or root of a user namespace) by mount(2), for the
 * user whose rights open the packed files; otherwise through fusermount3; or not at
 * all, where somebody else has mounted and passed the connection as /dev/fd/N.
 */
#ifndef GRANARY_FUSE_MOUNT_H
#define GRANARY_FUSE_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "fuse/ops.h"

struct mount {
	char *mountpoint;   /* owned; NULL: nothing is mounted */
	bool ours;          /* ours to unmount: not through /dev/fd/N */
	bool by_helper;     /* through fusermount3 */
	unsigned number;    /* of its connection: its own for as long as it lives */
	int connection;     /* libfuse's */
};

/* What a mount is to be. */
struct mount_wish {
	const char *mountpoint; /* absolute, or /dev/fd/N */
	int directory;          /* the mount point, O_PATH, or -1 */
	const char *source;     /* what the mount table shows */
	uid_t uid;              /* whose mount it is: nobody else gets in, */
	gid_t gid;
	bool allow_other;       /* but for this */
	bool noexec;
	const char *context;    /* SELinux's label of all files, or NULL */
};

enum { MOUNT_CONTEXT_MOST = 512 }; /* bytes; the kernel takes a page of all options */

/*
 * Takes away what a dead granaryfs has left at the mount point, and mounts. Where
 * several mount at the same place at the same moment, one of them gets it.
 */
int mount_make(const struct mount_wish *wish, struct fuse_session *fuse,
	       struct mount *out, struct error *e);

/*
 * Out of the tree: for good, though what is open can still be read; if nobody uses it
 * (-EBUSY); if nobody has since the last call (-EAGAIN).
 */
enum mount_removal { MOUNT_DETACH, MOUNT_UNMOUNT, MOUNT_EXPIRE };

/*
 * Begins one in a child process, which may wait for long: its number; 0: it is done
 * already; or as mount_removed. That says what came of it by its status, from wait(2), or
 * -1: it has been waited for long enough. 0; -ESTALE where the mount was gone already,
 * whatever has taken its place; or another negative errno.
 */
pid_t mount_remove(const struct mount *mount, enum mount_removal how);
int mount_removed(const struct mount *mount, int status);

/* Takes it away, if it is still there: what an abort, or an error, leaves. */
void mount_end(struct mount *mount, struct fuse_session *fuse);
void mount_free(struct mount *mount);

/* What libfuse says goes to the log; while it mounts, into the error too. */
void mount_log_from_fuse(void);
const char *mount_fuse_said(void);

#endif
