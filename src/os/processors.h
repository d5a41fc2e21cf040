/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * processors.h: the processors that this process may use.
 */
#ifndef GRANARY_OS_PROCESSORS_H
#define GRANARY_OS_PROCESSORS_H

#include <stdint.h>

/*
 * Processors that the calling thread may run on (sched_getaffinity(2)): a job step may
 * have a few of a large machine. At least 1.
 */
unsigned processors_count(void);

/*
 * Time that those processors have been idle since the machine started, of all together, in
 * units of 10 ms (/proc/stat, proc_stat(5)). 0: unknown.
 */
uint64_t processors_idle_ns(void);

/*
 * How often the calling thread has waited for something; a thread that only lost its
 * processor has not.
 */
long processors_thread_sleeps(void);

/* Processor time that the calling thread has taken. */
uint64_t processors_thread_ns(void);

#endif
