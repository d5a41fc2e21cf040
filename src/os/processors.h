/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * processors.h: the number of processors that this process may use.
 */
#ifndef GRANARY_OS_PROCESSORS_H
#define GRANARY_OS_PROCESSORS_H

/*
 * Processors that the calling thread may run on (sched_getaffinity(2)): a job step may
 * have a few of a large machine. At least 1.
 */
unsigned processors_count(void);

#endif
