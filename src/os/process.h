/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process.h: the state and the end of processes.
 */
#ifndef GRANARY_OS_PROCESS_H
#define GRANARY_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Ends this process like _exit(2), without waiting for the filesystems of its open files:
 * a child that shares the descriptors is left behind to close them. The standard streams
 * are closed by then.
 *
 * Threads: only while the process has one.
 */
_Noreturn void process_leave(int status);

/*
 * Will the process never run user code again? Its main thread is dead or dumps core, and
 * each other thread is dead too, or in a wait that no signal ends (state D) and dies
 * after it. So is a killed child that cannot be reaped. True for no such process. Where
 * /proc hides it (hidepid=), a child is known to be beyond only when it can be reaped.
 */
bool process_cannot_run(pid_t process);

/*
 * Is its main thread stopped by a signal? waitpid(2) reports that only when all threads
 * are stopped, and a thread in state D does not stop.
 */
bool process_is_stopped(pid_t process);

/* The signals of a program's own faults. */
extern const int process_faults[];
enum { PROCESS_FAULTS = 7 };

/* Did one of these signals end the process of this wait status (wait(2))? -1: none. */
bool process_ended_by_fault(int status);

/*
 * Has another process lowered a child's resource limits (prlimit(1)) below those of the
 * calling process? False where that cannot be read.
 */
bool process_limits_lowered(pid_t child);

/*
 * A process whose working or root directory is the directory or lies in it, by the paths
 * of /proc: 0: none, or none that may be seen. Touches no filesystem but /proc.
 */
pid_t process_working_in(const char *directory);

/*
 * Does a command line (of /proc, each argument with its NUL) tell its program to stay on
 * one file system? Of programs that compare device numbers path by path: cp -x, and any
 * with --one-file-system. Pure.
 */
bool process_stays_on_device(const char *arguments, size_t size);

/* A process with such a command line: 0: none, or none that may be seen. */
pid_t process_find_on_device(void);

/* Processes that the kernel has killed on this machine for lack of memory. */
uint64_t process_oom_kills(void);

/* Makes the kernel kill this process before its parent when memory is short. */
void process_prefer_oom_kill(void);

#endif
