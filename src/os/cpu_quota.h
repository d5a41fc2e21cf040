/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_quota.h: the processor time that control groups leave to this process: cpu.max of
 * version 2, cpu.cfs_quota_us of version 1 (Documentation/admin-guide/cgroup-v2.rst,
 * scheduler/sched-bwc.rst). A container with two processors of 64 has such a quota, and may
 * run on all 64: who uses more is stopped for the rest of each 100 ms.
 *
 * Threads: any, for an open quota.
 */
#ifndef GRANARY_OS_CPU_QUOTA_H
#define GRANARY_OS_CPU_QUOTA_H

#include <stdint.h>

struct cpu_quota {
	unsigned thousandths; /* of a processor, by the lowest limit; 0: there is none */
	char *directory;         /* of the group with that limit, or NULL */
};

/*
 * Reads the limits of all groups around this process. `root` stands before /proc and every
 * other path; "" except in tests. A file that cannot be read or parsed sets no limit.
 * Free `out` by cpu_quota_free.
 */
void cpu_quota_read(const char *root, struct cpu_quota *out);
void cpu_quota_free(struct cpu_quota *quota);

/* Processor time that the processes of that group have taken; 0: unknown, or no limit. */
uint64_t cpu_quota_used_ns(const struct cpu_quota *quota);

#endif
