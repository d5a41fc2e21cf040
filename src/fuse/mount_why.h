/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mount_why.h: why there is no mount, and what to do about it. Private to fuse/.
 */
#ifndef GRANARY_FUSE_MOUNT_WHY_H
#define GRANARY_FUSE_MOUNT_WHY_H

#include "fuse/mount.h"

/*
 * Fills `e`, and returns -errnum. `said` is what libfuse or fusermount3 said, or "". What
 * granary doctor would find on this machine is in the sentence, with its remedy.
 */
int mount_why(const struct mount_wish *wish, int errnum, const char *said, struct error *e);

#endif
