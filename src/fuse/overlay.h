/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * overlay.h: makes the overlay that is a mount's shield. Private to fuse/.
 *
 * An overlay without an upper layer wants two lower ones: the FUSE mount, and an empty
 * folder, whose name tells which mount is behind the overlay. That folder lies in a tmpfs
 * of the overlay's own. Before Linux 6.15 only what is mounted somewhere can be a layer:
 * so the tmpfs is mounted on the FUSE mount, in a mount namespace that only the process
 * that makes the overlay sees. It is gone with that process, and lives on behind the
 * overlay. A folder that is removed once the overlay is made will not do: who lists a
 * merged root reads it, gets ENOENT, and libraries take that for the end.
 *
 * A layer for data only leaves the root the FUSE root, with its number, its link count
 * and the speed of its listing. A merged root has a link count of 1, and all inode numbers
 * have a high bit set (xino=on).
 */
#ifndef GRANARY_FUSE_OVERLAY_H
#define GRANARY_FUSE_OVERLAY_H

#include <stdbool.h>

#include "fuse/front.h"

/* What an overlay is to be. */
struct overlay_wish {
	const struct mount *mount;
	const char *source; /* for the mount table */
	bool noexec;
	bool merged;        /* see below */
};

/*
 * Is the overlay's root a merged folder here, whose names are all read before the first
 * is given out? Not where the second layer can be for data only.
 */
bool overlay_is_merged(void);

/*
 * The root of the mount (O_PATH), if it is still what is seen at its mount point, as the
 * calling process sees it. A negative errno.
 */
int overlay_open_root(const struct mount *mount);

/*
 * Makes one that is mounted nowhere, and goes with its descriptor: that is returned, and
 * *root is the mount's root. The calling process leaves its mount namespace for one of its
 * own, and so should be a child that ends soon. -1, and why it cannot be.
 */
int overlay_make(const struct overlay_wish *wish, int *root, char why[FRONT_WHY_BYTES]);

#endif
