/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * front.h: the shield: what is put before a FUSE mount. Private to fuse/.
 *
 * FUSE forwards every ioctl to its daemon, and Python before 3.14 sends one for each
 * file that it opens. With the right to mount, a filesystem that answers it inside the
 * kernel takes the FUSE mount's place: one mount is seen, and who unmounts it ends the
 * FUSE filesystem with it. A kind of front is one file here, and a line in the tables of
 * front.c and os/front_kind.c.
 *
 * Threads: one, the supervisor's; it never looks at its own mount. A child process
 * does, for so long.
 */
#ifndef GRANARY_FUSE_FRONT_H
#define GRANARY_FUSE_FRONT_H

#include <stdbool.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "fuse/mount.h"
#include "fuse/session.h"
#include "os/front_kind.h"
#include "os/rights.h"

enum { FRONT_WHY_BYTES = 256 };

struct inodes;

struct front_setup {
	const struct mount_config *config;
	const struct dataset *dataset;
	const struct rights *rights; /* of the mount's user; NULL: the caller's */
	const char *source;          /* what is packed, for the mount table */
	struct inodes *inodes;       /* their memory rises with a front */
	bool in_use;                 /* there are readers: the mount is never away */
};

struct front_ops {
	const struct front_kind *kind;

	/* Where it is wanted (shield=on), may it be? 0, or -EINVAL and a sentence. */
	int (*check)(const struct mount_config *config, struct error *e);

	/* Can it take the place of a mount that is in use? */
	bool (*is_gapless)(const struct mount *mount);

	/*
	 * Puts it before a mount that is served already, and tries it with `rights`: true,
	 * and its words for the log; or false, and why it is not there. May take seconds.
	 */
	bool (*raise)(const struct mount *mount, const struct front_setup *setup,
		      char outcome[FRONT_WHY_BYTES]);
};

extern const struct front_ops front_overlay;

/* Before anything is mounted: shield=on where it cannot be is -EINVAL, and a sentence. */
int front_check(const struct mount_config *config, struct error *e);

/*
 * Puts a front before a mount that is served already, where `config` and the machine let
 * it. 0: it is there (the gauge `shielded` is 1, and `name_bytes` has risen), or it is not,
 * and a line in the log says why; with shield=on that is an error, and a sentence.
 */
int front_raise(const struct mount *mount, const struct front_setup *setup,
		struct error *e);

/*
 * With shield=auto: can the front wait until readers need it (front_watch.h)? Where not,
 * front_raise decides.
 */
bool front_can_wait(const struct mount *mount, const struct mount_config *config);

/*
 * front_raise in steps, for a mount in use: true: it is there, and the gauges say so.
 * `outcome` gets its words for the log, or why it is not there.
 */
bool front_raise_any(const struct mount *mount, const struct front_setup *setup,
		     char outcome[FRONT_WHY_BYTES]);
void front_log(const struct mount *mount, bool raised, const char *outcome);

#endif
