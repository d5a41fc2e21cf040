/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * overlay.h: makes the overlay that is a mount's shield. Private to fuse/.
 *
 * An overlay without an upper layer needs two lower ones: the FUSE mount, and an empty
 * directory, whose name identifies the mount behind the overlay. The directory lies in a
 * tmpfs of the overlay's own. Before Linux 6.15 a layer must be mounted somewhere: so the
 * tmpfs is mounted on the FUSE mount, in a mount namespace of the process that makes the
 * overlay. That mount ends with the process; the overlay keeps the tmpfs. The directory
 * cannot be removed: listing a merged root would read it and end with ENOENT.
 *
 * A layer for data only leaves the root the FUSE root, with its number, its link count
 * and the speed of its listing. A merged root has a link count of 1, and all inode numbers
 * have a high bit set (xino=on).
 */
#ifndef GRANARY_FUSE_OVERLAY_H
#define GRANARY_FUSE_OVERLAY_H

#include <stdbool.h>

#include "fuse/front.h"

/* The properties of an overlay. */
struct overlay_wish {
	const struct mount *mount;
	const char *source; /* for the mount table */
	bool noexec;
	bool merged;        /* see below */
};

/*
 * Is the overlay's root a merged directory here? Then the kernel reads all names before
 * it returns the first. False where the second layer can be data-only.
 */
bool overlay_is_merged(void);

/*
 * Opens the mount's root (O_PATH) if the calling process still sees it at the mount
 * point; or a negative errno.
 */
int overlay_open_root(const struct mount *mount);

/*
 * Makes an overlay outside of the tree, which ends with the returned descriptor; *root is
 * the mount's root. Moves the calling process into a mount namespace of its own: call it
 * in a short-lived child. -1: `why` has the reason.
 */
int overlay_make(const struct overlay_wish *wish, int *root, char why[FRONT_WHY_BYTES]);

#endif
