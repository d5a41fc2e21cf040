/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * syscalls.h: the system calls of a process that works on bytes only.
 *
 * Threads: only while the process has one.
 */
#ifndef GRANARY_OS_SYSCALLS_H
#define GRANARY_OS_SYSCALLS_H

#include <stdbool.h>

/*
 * From now on all threads of this process may use memory, threads and open descriptors
 * only; any other call fails with EPERM (seccomp(2)). The process opens, makes, names,
 * runs and signals nothing. 0, or a negative errno: -ENOSYS: no such filters in the
 * kernel, or no table for this machine.
 */
int syscalls_limit(void);

/* Could syscalls_limit succeed here? */
bool syscalls_can_be_limited(void);

#endif
