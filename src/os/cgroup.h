/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cgroup.h: the control groups that limit this process, as directories.
 *
 * Version 1, version 2, and both at once; also in containers, which may mount only a part
 * of the hierarchy.
 */
#ifndef GRANARY_OS_CGROUP_H
#define GRANARY_OS_CGROUP_H

#include <stdbool.h>

#include "base/vec.h"

/* This process's group, or a parent of it. */
struct cgroup_level {
	char *path; /* of its directory */
	bool old;   /* version 1, whose files differ */
};

struct cgroup_levels {
	VEC(struct cgroup_level) list;
};

/*
 * Adds the levels of a controller ("memory", "cpu") that /proc/self/cgroup and
 * /proc/self/mountinfo list; their texts are given, and `root` stands before each path.
 * Malformed lines are skipped. 0 or -ENOMEM.
 */
int cgroup_find_levels(const char *root, const char *controller, const char *cgroup,
		       const char *mountinfo, struct cgroup_levels *out);

/*
 * The text of a file of the kernel's, of any size: the caller frees it; "" where it cannot
 * be read, NULL: out of memory.
 */
char *cgroup_read_text(const char *directory, const char *name);
void cgroup_levels_free(struct cgroup_levels *levels);

#endif
