/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pool.h: threads that run tasks until none is left.
 *
 * Tasks may add tasks. Tasks are started in the order in which they were
 * added; results that must be in order are put in order by the caller.
 *
 * Threads: pool_add may be called from any thread, the others by the owner. SIGINT,
 * SIGTERM and SIGHUP are never handled in one of the pool's.
 */
#ifndef GRANARY_OS_POOL_H
#define GRANARY_OS_POOL_H

struct pool;

typedef void pool_task(void *argument);

/*
 * Starts `threads` threads (at least one), or as many as can be had: 0, or -ENOMEM
 * or -EAGAIN where that is none.
 */
int pool_start(struct pool **out, unsigned threads);

/* How many it has. */
unsigned pool_threads(const struct pool *pool);

/* 0 or -ENOMEM. `argument` must live until the task has run. */
int pool_add(struct pool *pool, pool_task *task, void *argument);

/* Waits until every task has run, stops the threads, frees the pool. */
void pool_finish(struct pool *pool);

#endif
