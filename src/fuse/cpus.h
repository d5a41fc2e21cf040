/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpus.h: the processors that request threads run on. Private to fuse/.
 *
 * A daemon that a job step starts inherits the mask of one task, and would
 * then serve all of the job's readers from one processor.
 */
#ifndef GRANARY_FUSE_CPUS_H
#define GRANARY_FUSE_CPUS_H

#include "base/error.h"

/*
 * NULL or "auto": all that the cgroup allows; "inherit": the mask as it is;
 * otherwise a list, "0-3:8" or "0-3,8" (within -o a
 * comma must be escaped). -EINVAL with a sentence.
 */
int cpus_apply(const char *cpus, struct error *e);

#endif
