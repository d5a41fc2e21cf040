/*
 * mounts.h: what is mounted where, and how to take it away.
 */
#ifndef GRANARY_UTIL_MOUNTS_H
#define GRANARY_UTIL_MOUNTS_H

#include <stdbool.h>

#define MOUNT_TYPE "fuse.granaryfs"

/*
 * The type of the topmost filesystem mounted exactly at `path` (absolute, as
 * /proc/self/mounts has it) into `type`, which holds `size` bytes: 1, 0 where
 * nothing is mounted, or a negative errno.
 */
int mounts_type(const char *path, char *type, unsigned size);

/* What mounts_id gives where there is none: before Linux 3.15, or no /proc. */
enum { MOUNT_ID_UNKNOWN = -1 };

/* The number of the mount that `path` leads to, as in /proc/self/mountinfo. */
int mounts_id(const char *path);

/*
 * Takes the topmost mount at `path` out of the tree; files that are open stay
 * readable and the filesystem ends with the last of them. As root by
 * umount2(2), otherwise through fusermount3. With an `id` other than
 * MOUNT_ID_UNKNOWN only if it is that mount: -ESTALE where somebody has put
 * another in its place. 0 or a negative errno.
 */
int mounts_detach(const char *path, int id);

#endif
