/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounded.h: work that may never end, in a child process, for so long.
 *
 * Whoever looks at a filesystem whose daemon hangs hangs with it, and sometimes
 * cannot even be killed. So a child looks, and its parent does not wait for ever.
 */
#ifndef GRANARY_OS_BOUNDED_H
#define GRANARY_OS_BOUNDED_H

#include <sys/types.h>

/*
 * Runs `work` in a child process, which has no descriptor of its parent's and ends with
 * its parent. Its standard streams are /dev/null: a child that cannot be ended must not
 * keep the reader of its parent's output waiting. Its result, 0 to 255; -ETIMEDOUT: it was
 * ended, or if that was impossible left behind; -EINTR: a signal ended it; or another
 * negative errno. What it finds out it may leave in shared memory.
 *
 * Threads: where there are others, `work` may only call what a signal handler may.
 */
int bounded_run(int (*work)(void *argument), void *argument, unsigned milliseconds);

/*
 * Only starts it: the number of the child, which the caller waits for and may kill, or a
 * negative errno.
 */
pid_t bounded_start(int (*work)(void *argument), void *argument);

/*
 * Closes all descriptors but the standard ones: a child that hangs must not keep anything
 * alive, least of all the connection whose end it waits for.
 */
void bounded_close_descriptors(void);

/*
 * Waits for a child: 1 and its wait status (wait(2)), 0 if it has not ended in time, or a
 * negative errno.
 */
int bounded_wait(pid_t child, int *status, unsigned milliseconds);

/* Milliseconds of a clock that only goes forward. */
long long bounded_now(void);

/* Sleeps. */
void bounded_pause(unsigned milliseconds);

#endif
