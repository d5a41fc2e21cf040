/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * syscalls.h: the system calls that remain to a process that only works on bytes.
 *
 * Threads: only while the process has one.
 */
#ifndef GRANARY_OS_SYSCALLS_H
#define GRANARY_OS_SYSCALLS_H

#include <stdbool.h>

/*
 * From now on this process, and every thread of it, may use its memory, its threads and
 * the descriptors that it has, and nothing else: any other call is EPERM (seccomp(2)). It
 * opens, makes, names, runs and signals nothing. 0, or a negative errno: -ENOSYS where
 * the kernel has no such filters, or the table none for this machine.
 */
int syscalls_limit(void);

/* Could syscalls_limit succeed here? */
bool syscalls_can_be_limited(void);

#endif
