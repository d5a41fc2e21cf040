/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pool of threads. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "os/pool.h"

struct work {
	struct pool *pool;
	_Atomic unsigned done;
	_Atomic unsigned failed; /* tasks that could not be added */
	unsigned order[1000];    /* one thread only */
	unsigned count;
};

static const unsigned thread_counts[] = { 0, 1, 2, 16 };

static void count_one(void *argument)
{
	struct work *work = argument;

	atomic_fetch_add(&work->done, 1);
}

static void test_finish_waits_for_thousands_of_tasks(void **state)
{
	size_t i = unit_row(state);
	struct work work = { 0 };

	assert_int_equal(pool_start(&work.pool, thread_counts[i]), 0);
	for (int k = 0; k < 20000; k++)
		assert_int_equal(pool_add(work.pool, count_one, &work), 0);
	pool_finish(work.pool);
	assert_int_equal(work.done, 20000);
}

static void test_a_pool_without_tasks_ends(void **state)
{
	struct pool *pool;

	(void)state;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(pool_start(&pool, 4), 0);
		pool_finish(pool);
	}
	pool_finish(NULL);
}

struct branch {
	struct work *work;
	int depth;
};

/* Adds two tasks, each of which adds two. */
static void grow(void *argument)
{
	struct branch *branch = argument;

	for (int i = 0; branch->depth > 0 && i < 2; i++) {
		struct branch *child = malloc(sizeof(*child));

		if (child)
			*child = (struct branch){ branch->work, branch->depth - 1 };
		if (!child || pool_add(branch->work->pool, grow, child) < 0) {
			atomic_fetch_add(&branch->work->failed, 1);
			free(child);
		}
	}
	atomic_fetch_add(&branch->work->done, 1);
	free(branch);
}

static void test_tasks_add_tasks_while_finish_waits(void **state)
{
	size_t i = unit_row(state);
	struct work work = { 0 };
	struct branch *root = malloc(sizeof(*root));

	assert_non_null(root);
	*root = (struct branch){ &work, 12 };
	assert_int_equal(pool_start(&work.pool, thread_counts[i]), 0);
	assert_int_equal(pool_add(work.pool, grow, root), 0);
	pool_finish(work.pool);
	assert_int_equal(work.failed, 0);
	assert_int_equal(work.done, (1 << 13) - 1);
}

struct numbered {
	struct work *work;
	unsigned number;
};

static void note_number(void *argument)
{
	struct numbered *numbered = argument;

	numbered->work->order[numbered->work->count++] = numbered->number;
}

static void test_one_thread_keeps_the_order(void **state)
{
	static struct numbered tasks[1000];
	static struct work work;

	(void)state;
	assert_int_equal(pool_start(&work.pool, 1), 0);
	for (unsigned i = 0; i < COUNT(tasks); i++) {
		tasks[i] = (struct numbered){ &work, i };
		assert_int_equal(pool_add(work.pool, note_number, &tasks[i]), 0);
	}
	pool_finish(work.pool);
	assert_int_equal(work.count, COUNT(tasks));
	for (unsigned i = 0; i < COUNT(tasks); i++)
		assert_int_equal(work.order[i], i);
}

static void meet(void *barrier)
{
	pthread_barrier_wait(barrier);
}

/* Four tasks that wait for each other end only if four threads run them. */
static void test_tasks_run_at_the_same_time(void **state)
{
	pthread_barrier_t barrier;
	struct pool *pool;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 4);
	assert_int_equal(pool_start(&pool, 4), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pool_add(pool, meet, &barrier), 0);
	pool_finish(pool);
	pthread_barrier_destroy(&barrier);
}

static void look_at_signals(void *argument)
{
	pthread_sigmask(SIG_BLOCK, NULL, argument);
}

static void test_what_ends_a_program_is_for_others(void **state)
{
	struct pool *pool;
	sigset_t there, here;

	(void)state;
	assert_int_equal(pool_start(&pool, 1), 0);
	assert_int_equal(pool_add(pool, look_at_signals, &there), 0);
	pool_finish(pool);
	pthread_sigmask(SIG_BLOCK, NULL, &here);
	assert_true(sigismember(&there, SIGTERM) && sigismember(&there, SIGINT) &&
		    sigismember(&there, SIGHUP));
	assert_false(sigismember(&there, SIGSEGV) || sigismember(&here, SIGTERM));
}

static const struct CMUnitTest pool[] = {
	unit_rows(test_finish_waits_for_thousands_of_tasks, thread_counts),
	cmocka_unit_test(test_a_pool_without_tasks_ends),
	unit_rows(test_tasks_add_tasks_while_finish_waits, thread_counts),
	cmocka_unit_test(test_one_thread_keeps_the_order),
	cmocka_unit_test(test_tasks_run_at_the_same_time),
	cmocka_unit_test(test_what_ends_a_program_is_for_others),
};

UNIT_MAIN(pool)
