/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fsids.h: gives a thread of root's the filesystem ids of another user.
 *
 * Root makes files in a user's directory with that user's ids. Then the kernel allows
 * only what the user could do. The ids are those of setfsuid(2) and setfsgid(2), without
 * supplementary groups; signals and open descriptors are not affected.
 *
 * Threads: changes the calling thread only. No other thread may change ids meanwhile.
 */
#ifndef GRANARY_OS_FSIDS_H
#define GRANARY_OS_FSIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The thread's ids before fsids_assume. */
struct fsids {
	bool taken;
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned */
	size_t group_count;
};

/*
 * 0; without a change if these are the process's effective ids. -EPERM: the process may
 * not change them; -ENOMEM. Call fsids_restore in each case.
 */
int fsids_assume(uid_t uid, gid_t gid, struct fsids *before);
void fsids_restore(struct fsids *before);

#endif
