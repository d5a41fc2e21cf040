/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fsids.h: one thread of root's acts on files with somebody else's rights.
 *
 * What root makes in a folder of somebody else it makes as that one: then it is the
 * kernel that sees to it that nothing is made, replaced or removed which that one could
 * not have. The ids are those of setfsuid(2) and setfsgid(2), without supplementary
 * groups; signals and descriptors that are open stay root's.
 *
 * Threads: of the calling thread only, but no other may change ids meanwhile.
 */
#ifndef GRANARY_OS_FSIDS_H
#define GRANARY_OS_FSIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the thread was before, and is again after fsids_restore. */
struct fsids {
	bool taken;
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned */
	size_t group_count;
};

/*
 * 0, and nothing changes, for the ids that the process effectively has; -EPERM for a
 * process that may not, -ENOMEM. In each case *before is for fsids_restore.
 */
int fsids_take(uid_t uid, gid_t gid, struct fsids *before);
void fsids_restore(struct fsids *before);

#endif
