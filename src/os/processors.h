/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * processors.h: the processors that this process may use.
 */
#ifndef GRANARY_OS_PROCESSORS_H
#define GRANARY_OS_PROCESSORS_H

#include <stdint.h>

/*
 * Processors that this process may keep busy: those that the calling thread may run on, or
 * as many as the quota of its control groups (cpu_quota.h) fills, if these are fewer. The
 * quota is the one of the first call. At least 1.
 */
unsigned processors_count(void);

/*
 * Processors that the calling thread may run on (sched_getaffinity(2)): a job step may
 * have a few of a large machine. At least 1.
 */
unsigned processors_allowed(void);

/*
 * Time that those processors have been idle since the machine started, of all together, in
 * units of 10 ms (/proc/stat, proc_stat(5)). 0: unknown.
 */
uint64_t processors_idle_ns(void);

/*
 * Of `ns` nanoseconds that have passed: processor time that the quota would still have let
 * this process take. UINT64_MAX: there is no quota. `used`: the group's time at the last
 * call, or 0; set to the present one.
 */
uint64_t processors_spare_ns(uint64_t ns, uint64_t *used);

/* Pure: the same, of a quota in thousandths of a processor; 0 is an unknown time. */
uint64_t processors_spare_of(unsigned thousandths, uint64_t ns, uint64_t before,
			     uint64_t now);

/*
 * How often the calling thread has waited for something; a thread that only lost its
 * processor has not.
 */
long processors_thread_sleeps(void);

/* Processor time that the calling thread has taken. */
uint64_t processors_thread_ns(void);

#endif
