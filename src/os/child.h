/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * child.h: forks and awaits child processes, and says in words how they ended.
 *
 * A child parses packed files: if a library crashes, the parent lives and reports it.
 */
#ifndef GRANARY_OS_CHILD_H
#define GRANARY_OS_CHILD_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * fork(2) for a child that ends with its parent (PDEATHSIG). 0, and *out is 0 in the
 * child; or a negative errno and *e.
 */
int child_fork(pid_t *out, struct error *e);

/*
 * For a program that the child runs: exec and a change of ids clear PDEATHSIG. Sets it
 * again, for the present parent. -ESRCH: `ancestor`, a process above, has ended.
 */
int child_ends_with_parent(pid_t ancestor);

/*
 * Waits for the child: 0 and its wait status (wait(2)), or a negative errno. TERM, INT
 * and HUP, unless ignored or blocked, end the child first (child_end), and then this
 * process.
 *
 * Threads: only while the process has one.
 */
int child_wait(pid_t child, int *status, struct error *e);

/*
 * Call it before the fork in a parent with threads: blocks CHLD and, unless ignored,
 * TERM, INT and HUP in all of them, so that the parent can wait for these signals. Child
 * and parent restore *before in the end.
 */
void child_block_signals(sigset_t *before);

/*
 * Waits with the signals blocked: 0 and the wait status, or a negative errno. Signals
 * that another process sent to this one are passed on to the child.
 */
int child_wait_forwarding(pid_t child, int *status);

/*
 * Ends a child, even a stopped one: TERM and CONT, and KILL after a second. Returns after
 * two seconds at most, even if the kernel keeps the child.
 */
void child_end(pid_t child);

/*
 * 0 if the child exited. If a signal ended an indexer that read `label` and so many
 * `others`: -EBADMSG for a crash, otherwise -EIO, and *e.
 */
int child_indexer_died(int status, const char *label, size_t others, struct error *e);

#endif
