/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * front_overlay.h: a read-only overlay in front of a FUSE mount. Private to fuse/.
 *
 * FUSE forwards every ioctl to its daemon, and Python before 3.14 sends one for each
 * file that it opens. overlayfs answers it inside the kernel. With the right to mount,
 * an overlay whose lower layer is the FUSE mount takes its place: one mount is seen, and
 * who unmounts it ends the FUSE filesystem with it.
 *
 * Threads: one, the supervisor's; it never looks at its own mount. A child process
 * does, for so long.
 */
#ifndef GRANARY_FUSE_FRONT_OVERLAY_H
#define GRANARY_FUSE_FRONT_OVERLAY_H

#include <stdbool.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "fuse/mount.h"
#include "fuse/session.h"
#include "os/rights.h"

/* Before anything is mounted: shield=on where it would let others in is -EINVAL. */
int shield_check(const struct mount_config *config, struct error *e);

/*
 * Puts the shield in front of a mount that is served already, where `config` and the
 * machine let it. 0: it is there (the gauge `shielded` is 1), or it is not, and a line
 * in the log says why; with shield=on that is an error, and a sentence. `rights` are
 * those of the mount's user, with which the overlay is tried (NULL: the caller's);
 * `source` is what is packed, for the mount table. Takes up to some seconds, where storage hangs.
 */
int shield_raise(const struct mount *mount, const struct mount_config *config,
		 const struct dataset *dataset, const struct rights *rights,
		 const char *source, struct error *e);

#endif
