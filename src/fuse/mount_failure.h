/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mount_failure.h: why a mount failed, and the remedy. Private to fuse/.
 */
#ifndef GRANARY_FUSE_MOUNT_FAILURE_H
#define GRANARY_FUSE_MOUNT_FAILURE_H

#include "fuse/mount.h"

/*
 * Fills `e`, and returns -errnum. `message`: the message of libfuse or fusermount3, or "".
 * Adds the finding of granary doctor for this machine, with its remedy.
 */
int mount_explain(const struct mount_wish *wish, int errnum, const char *message,
		  struct error *e);

#endif
