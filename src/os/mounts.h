/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mounts.h: what is mounted where, and how to take it away.
 *
 * Everything here reads the mount table and never looks at a mount itself, unless
 * said: one whose daemon hangs must not make its caller hang. Paths are absolute and
 * without links; mounts_path makes them so.
 *
 * Threads: any. Where a child process is needed to stay within a bound, it does only
 * what is allowed beside other threads.
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
 * `path` as the mount table has it, whether it ends in a slash, leads through links,
 * or is a mount whose daemon has died. The caller frees it; NULL and errno where it
 * leads nowhere.
 */
char *mounts_path(const char *path);

/* The same of what is open. */
char *mounts_path_of(int fd);

/*
 * The filesystem that a walk to exactly `path` ends on, the topmost of those stacked
 * there: 1, 0 where nothing is mounted, or a negative errno. `out` may be NULL.
 */
int mounts_find(const char *path, struct mount_entry *out);

/* The same for the mount with this id, wherever it is. */
int mounts_find_id(int id, struct mount_entry *out);

/*
 * Is something mounted within the mount with this id? 1 and the path of one such
 * (the caller frees it; NULL if not wanted), 0, or a negative errno.
 */
int mounts_inside(int id, char **path);

/*
 * Where the granaryfs with this connection is mounted by now, and as what; the caller
 * frees it. NULL where it is nowhere. The number is one's own for as long as the
 * filesystem lives; that of a mount may be another's when it is unmounted.
 */
char *mounts_of_connection(unsigned connection, struct mount_entry *out);

/* What mounts_id gives where there is none: before Linux 3.15, or no /proc. */
enum { MOUNT_ID_UNKNOWN = -1 };

/* The number of the mount that `path` leads to. Looks at it (O_PATH). */
int mounts_id(const char *path);

/* The number of the mount that an open directory is on. */
int mounts_id_of(int fd);

/*
 * Has the daemon of the mount at `path` gone (ENOTCONN)? Asks it, through a child
 * process; one that has not answered within half a second is alive, and hangs.
 */
bool mounts_is_dead(const char *path);

/*
 * Is there an /etc/mtab? fusermount3 looks there for a user's mount before it takes it
 * away. Images that no init system has begun may lack it.
 */
bool mounts_have_mtab(void);

/*
 * Takes the topmost mount at `path` out of the tree; files that are open stay
 * readable and the filesystem ends with the last of them. As root by
 * umount2(2), otherwise through fusermount3. With an `id` other than
 * MOUNT_ID_UNKNOWN only if it is that mount: -ESTALE where somebody has put
 * another in its place. 0 or a negative errno: -ETIMEDOUT if fusermount3 took more
 * than ten seconds, -EPERM if it refused.
 */
int mounts_detach(const char *path, int id);

/* The same, but -EBUSY if it is in use. */
int mounts_unmount(const char *path, int id);

/*
 * The same, but whoever still reads gets ENOTCONN, now and for good: a FUSE mount, with
 * a front or without, is aborted first. Root, or the mount's owner where fusectl is
 * mounted: 0. Otherwise it is only detached: 1.
 */
int mounts_abort(const char *path, int id);

/*
 * Unmounts what has not been used since the last call (MNT_EXPIRE): 0 it is
 * unmounted; -EAGAIN not yet, the time runs from now; -EBUSY it is in use, be it by an
 * O_PATH descriptor only; -EPERM only root, or who owns the mount namespace, can;
 * -ESTALE as above. To look at the mount in between is to use it.
 */
int mounts_expire(const char *path, int id);

/*
 * Something that only this FUSE connection has, for as long as it exists; 0 when it does
 * not, or where fusectl is not mounted. Its number may be another's by then.
 */
ino_t mounts_connection(unsigned connection);

#endif
