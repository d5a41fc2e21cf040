/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mounts.h: finds mounts and unmounts them.
 *
 * Functions read the mount table and touch no mount, unless stated: a mount whose daemon
 * hangs would make the caller hang. Paths are absolute and free of links; mounts_path
 * makes them so.
 *
 * Threads: any. Children that enforce a deadline make async-signal-safe calls only.
 */
#ifndef GRANARY_OS_MOUNTS_H
#define GRANARY_OS_MOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "os/front_kind.h"

#define MOUNT_TYPE "fuse.granaryfs"

/* A line of /proc/self/mountinfo. */
struct mount_entry {
	int id;           /* the next mount may get it when this one is gone */
	int parent;       /* the id of the mount that it is mounted on */
	unsigned minor;   /* of its device */
	unsigned connection; /* the number of its FUSE connection; 0: it has none */
	bool granaryfs;   /* it is one of ours, */
	const struct front_kind *front; /* seen through this, or NULL: as itself */
	uid_t uid;        /* of a FUSE mount: whose it is; otherwise 0 */
	gid_t gid;
	char type[64];    /* "fuse.granaryfs" */
};

/*
 * `path` as in the mount table, even if it ends in a slash, leads through links, or is a
 * dead mount. The caller frees it. NULL and errno: it does not exist.
 */
char *mounts_path(const char *path);

/* The same for an open file. */
char *mounts_path_of(int fd);

/*
 * Finds the topmost mount at exactly `path`: 1, 0: nothing is mounted there, or a
 * negative errno. `out` may be NULL.
 */
int mounts_find(const char *path, struct mount_entry *out);

/* The same for the mount with this id, at any path. */
int mounts_find_id(int id, struct mount_entry *out);

/*
 * Calls `found` with each granaryfs in this mount namespace, in the order of the table, its
 * path and what is packed. A result < 0 of `found` ends it, and is returned.
 */
int mounts_each(int (*found)(void *context, const struct mount_entry *entry,
			     const char *path, const char *source),
		void *context);

/*
 * Is a mount inside of the mount with this id? 1 and the path of one (the caller frees
 * it; `path` may be NULL), 0, or a negative errno.
 */
int mounts_inside(int id, char **path);

/*
 * The present path of the granaryfs with this connection, and its entry; the caller frees
 * the path. NULL: it is not mounted. A connection's number is unique while its filesystem
 * lives; a mount's id may be reused after the unmount.
 */
char *mounts_of_connection(unsigned connection, struct mount_entry *out);

/* An id that cannot be read: before Linux 3.15, or without /proc. */
enum { MOUNT_ID_UNKNOWN = -1 };

/* The id of the mount of an open directory. */
int mounts_id_of(int fd);

/*
 * Has the daemon of the mount at `path` gone (ENOTCONN)? Asks it, through a child
 * process; one that has not answered within half a second is alive, and hangs.
 */
bool mounts_is_dead(const char *path);

/*
 * Does /etc/mtab exist? fusermount3 reads it before it unmounts a user's mount. Container
 * images without an init system may lack it.
 */
bool mounts_have_mtab(void);

/*
 * Detaches the topmost mount at `path`; open files stay readable, and the filesystem ends
 * with the last one. Root uses umount2(2), others fusermount3. Checks the `id` unless it
 * is MOUNT_ID_UNKNOWN: -ESTALE where another mount took its place. 0 or a negative errno:
 * -ETIMEDOUT: fusermount3 took more than ten seconds; -EPERM: it refused.
 */
int mounts_detach(const char *path, int id);

/*
 * Detaches the mount with this id at `path` if its daemon has gone: 0; -EBUSY: it has not;
 * -ESTALE: another process has unmounted it meanwhile; or as above. Between a question
 * and an unmount of their own, callers could meet another mount that got the same id.
 */
int mounts_detach_dead(const char *path, int id);

/* The same as mounts_detach, but -EBUSY if the mount is in use. */
int mounts_unmount(const char *path, int id);

/*
 * The same, but whoever still reads gets ENOTCONN, now and for good: a FUSE mount, with
 * a front or without, is aborted first. Root, or the mount's owner where fusectl is
 * mounted: 0. Otherwise it is only detached: 1.
 */
int mounts_abort(const char *path, int id);

/*
 * Unmounts a mount that was not used since the last call (MNT_EXPIRE): 0: unmounted;
 * -EAGAIN: not yet, try again later; -EBUSY: in use, if only by an O_PATH descriptor;
 * -EPERM: neither root nor owner of the mount namespace; -ESTALE as above. Looking at the
 * mount uses it.
 */
int mounts_expire(const char *path, int id);

/*
 * An inode number that identifies this FUSE connection while it exists; 0: it has ended,
 * or fusectl is not mounted. Another connection may reuse the number `connection` later.
 */
ino_t mounts_connection(unsigned connection);

#endif
