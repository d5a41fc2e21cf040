/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process.h: what can still be expected of another process.
 */
#ifndef GRANARY_OS_PROCESS_H
#define GRANARY_OS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Ends this process as _exit(2) does, without waiting for the filesystems of the files
 * that it has open: a child, which shares its descriptors, is left behind to close them.
 * Of the standard ones there is nothing left by then.
 *
 * Threads: only while the process has one.
 */
_Noreturn void process_leave(int status);

/*
 * Will a process never take another step of its own? Its main thread is dead, or
 * about to leave a core dump, and each of the others is too, or waits in the kernel for
 * something that no signal ends (state D), and dies when that has come. So it is with a
 * child that was killed and cannot be reaped. True where there is no such process. Where
 * /proc hides it (hidepid=), a child is only known to be beyond when it can be reaped.
 */
bool process_is_beyond(pid_t process);

/*
 * Has a signal stopped its main thread? waitpid(2) says so only when all threads have
 * stopped, and one that waits for something that no signal ends does not.
 */
bool process_is_stopped(pid_t process);

/* The signals that a fault of a program's own raises. */
extern const int process_faults[];
enum { PROCESS_FAULTS = 7 };

/* Does a wait status (wait(2)) say that one of them ended it? -1 is none. */
bool process_ended_by_fault(int status);

/*
 * Has another process lowered a child's resource limits (prlimit(1)) below those of the
 * calling process, which it began with? False where that cannot be seen.
 */
bool process_has_less(pid_t child);

/* How many processes the kernel has killed on this machine for lack of memory. */
uint64_t process_oom_kills(void);

/* Lack of memory should take the calling process rather than its parent. */
void process_offer_to_oom(void);

#endif
