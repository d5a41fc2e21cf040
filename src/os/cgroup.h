/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cgroup.h: the control groups that bound this process's memory, as folders.
 *
 * In version 1 and version 2, both at once included, and in containers: what is mounted
 * may be a part of the hierarchy only, and what lies above it cannot be seen.
 */
#ifndef GRANARY_OS_CGROUP_H
#define GRANARY_OS_CGROUP_H

#include <stdbool.h>

#include "base/vec.h"

/* One group: this process's own, or one of those around it. */
struct cgroup_level {
	char *path; /* of its folder */
	bool old;   /* version 1: other files */
};

struct cgroup_levels {
	VEC(struct cgroup_level) list;
};

/*
 * Adds the levels that the texts of /proc/self/cgroup and /proc/self/mountinfo tell of,
 * `root` before each path. Lines that make no sense are passed over. 0 or -ENOMEM.
 */
int cgroup_memory_levels(const char *root, const char *cgroup, const char *mountinfo,
			 struct cgroup_levels *out);
void cgroup_levels_free(struct cgroup_levels *levels);

#endif
