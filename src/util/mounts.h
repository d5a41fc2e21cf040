/*
 * mounts.h: what is mounted where, and how to take it away.
 *
 * Everything here reads the mount table and never looks at a mount itself, unless
 * said: one whose daemon hangs must not make its caller hang.
 */
#ifndef GRANARY_UTIL_MOUNTS_H
#define GRANARY_UTIL_MOUNTS_H

#include <stdbool.h>

#define MOUNT_TYPE "fuse.granaryfs"

/* A line of /proc/self/mountinfo. */
struct mount_entry {
	int id;
	int parent;       /* the id of the mount that it is mounted on */
	unsigned minor;   /* of its device: the number of a FUSE connection */
	char type[64];    /* "fuse.granaryfs" */
};

/*
 * The topmost filesystem mounted exactly at `path` (absolute, without links, as
 * the mount table has it): 1, 0 where nothing is mounted, or a negative errno.
 */
int mounts_find(const char *path, struct mount_entry *out);

/* The same for the mount with this id: is it there, and where? `out` may be NULL. */
int mounts_find_id(int id, struct mount_entry *out);

/*
 * The type of the topmost filesystem mounted exactly at `path` into `type`, which
 * holds `size` bytes: 1, 0 where nothing is mounted, or a negative errno.
 */
int mounts_type(const char *path, char *type, unsigned size);

/* What mounts_id gives where there is none: before Linux 3.15, or no /proc. */
enum { MOUNT_ID_UNKNOWN = -1 };

/* The number of the mount that `path` leads to. Looks at it (O_PATH). */
int mounts_id(const char *path);

/* Has the daemon of the FUSE mount at `path` gone (ENOTCONN)? Looks at it. */
bool mounts_is_dead(const char *path);

/*
 * Takes the topmost mount at `path` out of the tree; files that are open stay
 * readable and the filesystem ends with the last of them. As root by
 * umount2(2), otherwise through fusermount3. With an `id` other than
 * MOUNT_ID_UNKNOWN only if it is that mount: -ESTALE where somebody has put
 * another in its place. 0 or a negative errno.
 */
int mounts_detach(const char *path, int id);

/* The same, but -EBUSY if it is in use. */
int mounts_unmount(const char *path, int id);

/*
 * The same, but whoever still reads gets ENOTCONN, now and for good: a FUSE mount
 * is aborted first. Root, or the mount's owner where fusectl is mounted.
 */
int mounts_abort(const char *path, int id);

/*
 * Unmounts what has not been used since the last call (MNT_EXPIRE): 0 it is
 * unmounted; -EAGAIN not yet, the time runs from now; -EBUSY it is in use; -EPERM
 * only root, or who owns the mount namespace, can; -ESTALE as above.
 */
int mounts_expire(const char *path, int id);

#endif
