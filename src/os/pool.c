/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "os/lock.h"

struct pool_task {
	struct pool_task *next;
	pool_task *run;
	void *argument;
};

struct pool {
	struct lock lock;
	struct wakeup changed;  /* a task was added, or the last one ended */
	struct pool_task *first;     /* lock */
	struct pool_task **last;     /* lock */
	unsigned running;       /* lock: tasks taken and not yet ended */
	bool finishing;         /* lock */
	unsigned thread_count;  /* set before pool_start returns */
	pthread_t threads[];
};

static struct pool_task *pop_task(struct pool *pool)
{
	struct pool_task *task;

	LOCK_GUARD(&pool->lock);
	while (!pool->first) {
		if (pool->finishing && pool->running == 0)
			return NULL;
		wakeup_wait(&pool->changed, &pool->lock);
	}
	task = pool->first;
	pool->first = task->next;
	if (!pool->first)
		pool->last = &pool->first;
	pool->running++;
	return task;
}

static void end_task(struct pool *pool, struct pool_task *task)
{
	free(task);
	LOCK_GUARD(&pool->lock);
	pool->running--;
	if (pool->running == 0 && !pool->first)
		wakeup_all(&pool->changed);
}

static void *worker(void *argument)
{
	struct pool *pool = argument;
	struct pool_task *task;

	while ((task = pop_task(pool))) {
		task->run(task->argument);
		end_task(pool, task);
	}
	return NULL;
}

/*
 * Signals that end the program are handled in the thread that started the pool, which
 * knows when it can clean up.
 */
static void block_end_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static int start_threads(struct pool *pool, unsigned threads)
{
	sigset_t before;
	int err = 0;

	block_end_signals(&before);
	while (pool->thread_count < threads && !err) {
		err = pthread_create(&pool->threads[pool->thread_count], NULL, worker, pool);
		pool->thread_count += !err;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int pool_start(struct pool **out, unsigned threads)
{
	struct pool *pool;
	int err;

	if (threads == 0)
		threads = 1;
	pool = calloc(1, sizeof(*pool) + threads * sizeof(pool->threads[0]));
	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->lock.mutex, NULL);
	pthread_cond_init(&pool->changed.cond, NULL);
	pool->last = &pool->first;
	err = start_threads(pool, threads);
	if (pool->thread_count == 0) {
		free(pool);
		return -err;
	}
	*out = pool;
	return 0;
}

unsigned pool_threads(const struct pool *pool)
{
	return pool->thread_count;
}

int pool_add(struct pool *pool, pool_task *run, void *argument)
{
	struct pool_task *task = malloc(sizeof(*task));

	if (!task)
		return -ENOMEM;
	*task = (struct pool_task){ .run = run, .argument = argument };
	LOCK_GUARD(&pool->lock);
	*pool->last = task;
	pool->last = &task->next;
	wakeup_all(&pool->changed);
	return 0;
}

void pool_finish(struct pool *pool)
{
	if (!pool)
		return;
	lock_acquire(&pool->lock);
	pool->finishing = true;
	wakeup_all(&pool->changed);
	lock_release(&pool->lock);
	for (unsigned i = 0; i < pool->thread_count; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_mutex_destroy(&pool->lock.mutex);
	pthread_cond_destroy(&pool->changed.cond);
	free(pool);
}
