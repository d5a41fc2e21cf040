/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpus.h: the processors of request threads. Private to fuse/.
 *
 * A daemon that a job step starts inherits one task's mask, and would serve all readers
 * of the job on one processor.
 */
#ifndef GRANARY_FUSE_CPUS_H
#define GRANARY_FUSE_CPUS_H

#include "base/error.h"

/*
 * NULL or "auto": all processors of the cgroup; "inherit": the mask as it is; otherwise a
 * list, "0-3:8" or "0-3,8" (commas escaped in -o). -EINVAL and *e.
 */
int cpus_apply(const char *cpus, struct error *e);

#endif
