/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * child.h: how a child process ended, in words.
 *
 * What parses strangers' files runs as a child: if a library dies of one, the
 * parent lives, and says so.
 */
#ifndef GRANARY_OS_CHILD_H
#define GRANARY_OS_CHILD_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * fork(2) for a child that is waited for and that ends with its parent, whatever it
 * blocks and even if it is stopped. 0, and in the child *out is 0; or a negative
 * errno and a sentence.
 */
int child_fork(pid_t *out, struct error *e);

/*
 * In a program that such a child runs: exec takes that promise away from one whose
 * user ids differ, and so does a change of them. Made again, for the parent that
 * there is; -ESRCH if `ancestor`, who may have run it through another, is gone.
 */
int child_ends_with_parent(pid_t ancestor);

/*
 * Waits for it to end: 0 and its wait status (wait(2)), or a negative errno. TERM,
 * INT and HUP, unless they are ignored or blocked, are the child's as well: one of
 * them ends first the child, by child_end, and then this process, by that signal.
 *
 * Threads: only while the process has one.
 */
int child_wait(pid_t child, int *status, struct error *e);

/*
 * For a parent that has threads: before the fork, so that all of them hold TERM, INT, HUP
 * (unless they are ignored or blocked) and CHLD, and the parent only waits with those.
 * The child, and the parent in the end, set back what was before.
 */
void child_hold_signals(sigset_t *before);

/*
 * Waits with the signals held: 0 and the wait status, or a negative errno. Those that
 * another process sent to this one are passed on, and it is the child that ends of them.
 */
int child_accompany(pid_t child, int *status);

/*
 * Ends a child that may be stopped, hang or not want to: TERM and CONT, and after a
 * second KILL. That takes two seconds at most, also where the kernel keeps it.
 */
void child_end(pid_t child);

/*
 * 0 if the child ended by itself. If it was an indexer that a signal ended while
 * it read `label` and so many `others`: -EBADMSG where it crashed, or -EIO, and the
 * sentence.
 */
int child_indexer_died(int status, const char *label, size_t others, struct error *e);

#endif
