/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounded.h: runs work that may hang in a child process, with a deadline.
 *
 * A call on a mount whose daemon hangs never returns, and the caller sometimes cannot
 * even be killed. So a child makes the call.
 */
#ifndef GRANARY_OS_BOUNDED_H
#define GRANARY_OS_BOUNDED_H

#include <sys/types.h>

/*
 * Runs `work` in a child that has none of the parent's descriptors and ends with the
 * parent. Its standard streams are /dev/null, so that a child that hangs keeps no pipe of
 * the parent's open. Returns the child's status, 0 to 255; -ETIMEDOUT: the child was
 * killed, or left behind if that was impossible; -EINTR: a signal ended it; or another
 * negative errno. Larger results go through shared memory.
 *
 * Threads: if others exist, `work` may make async-signal-safe calls only.
 */
int bounded_run(int (*work)(void *argument), void *argument, unsigned milliseconds);

/*
 * Only starts the child: its process id, which the caller waits for and may kill, or a
 * negative errno.
 */
pid_t bounded_start(int (*work)(void *argument), void *argument);

/*
 * Closes all descriptors but the standard ones: a child that hangs must not hold anything
 * open, such as the connection whose end it waits for.
 */
void bounded_close_descriptors(void);

/*
 * Waits for a child: 1 and its wait status (wait(2)), 0 if it has not ended in time, or a
 * negative errno.
 */
int bounded_wait(pid_t child, int *status, unsigned milliseconds);

/* Milliseconds of a monotonic clock. */
long long bounded_now(void);

/* Sleeps. */
void bounded_pause(unsigned milliseconds);

#endif
