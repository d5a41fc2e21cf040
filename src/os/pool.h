/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pool.h: threads that run tasks until none is left.
 *
 * Tasks may add tasks. Tasks start in the order in which they were added, and end in any.
 *
 * Threads: pool_add may be called from any thread, the others by the owner. The pool's
 * threads never handle SIGINT, SIGTERM and SIGHUP.
 */
#ifndef GRANARY_OS_POOL_H
#define GRANARY_OS_POOL_H

struct pool;

typedef void pool_task(void *argument);

/*
 * Starts `threads` threads (at least one), or as many as the system allows: 0, or -ENOMEM
 * or -EAGAIN if none.
 */
int pool_start(struct pool **out, unsigned threads);

/* The number of threads. */
unsigned pool_threads(const struct pool *pool);

/* 0 or -ENOMEM. `argument` must live until the task has run. */
int pool_add(struct pool *pool, pool_task *task, void *argument);

/* Waits until every task has run, stops the threads, frees the pool. */
void pool_finish(struct pool *pool);

#endif
