/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * front_overlay.h: a read-only overlay in front of a FUSE mount. Private to fuse/.
 *
 * FUSE forwards every ioctl to its daemon, and Python before 3.14 sends one for each
 * file that it opens. overlayfs answers it inside the kernel. With the right to mount,
 * an overlay whose lower layer is the FUSE mount takes the mount's place. Its unmount
 * ends the FUSE filesystem, too.
 *
 * Threads: one, the supervisor's, which never touches its own mount: a child process
 * does, with a deadline.
 */
#ifndef GRANARY_FUSE_FRONT_OVERLAY_H
#define GRANARY_FUSE_FRONT_OVERLAY_H

#include <stdbool.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "fuse/mount.h"
#include "fuse/session.h"
#include "os/rights.h"

/* Call it before the mount. -EINVAL: shield=on would admit users whom FUSE refuses. */
int shield_check(const struct mount_config *config, struct error *e);

/*
 * Puts the shield in front of a served mount, if `config` and the machine allow it. 0: it
 * is there (the gauge `shielded` is 1), or the log has the reason why not; with shield=on
 * that is an error and *e. `rights`: of the mount's user, for the trial of the overlay
 * (NULL: the caller's). `source`: for the mount table. Takes seconds if storage hangs.
 */
int shield_raise(const struct mount *mount, const struct mount_config *config,
		 const struct dataset *dataset, const struct rights *rights,
		 const char *source, struct error *e);

#endif
