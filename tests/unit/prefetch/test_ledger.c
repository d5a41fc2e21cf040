/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger: what is held, how far the sweep is, and who was at what. */
#include "unit.h"

#include <signal.h>
#include <stdatomic.h>

#include "prefetch/ledger_check.h"
#include "prefetch/ledger.h"
#include "stats/stats.h"
#include "os/pages.h"
#include "os/pool.h"

enum { NODES = 1000, THREADS = 8 };
#define PAGE pages_size()

static struct ledger *ledger;

static int begin(void **state)
{
	(void)state;
	ledger = ledger_new(NODES);
	stats_set(COUNTER_resident_bytes, 0);
	return ledger ? 0 : -1;
}

static int end(void **state)
{
	const char *wrong = ledger_check(ledger, false, NULL, NULL);

	(void)state;
	if (wrong)
		fail_msg("%s", wrong);
	ledger_free(ledger);
	return 0;
}

static uint64_t resident(void)
{
	return stats_get(COUNTER_resident_bytes);
}

/* Files. */

static const struct {
	uint64_t whole;
	int beside; /* bytes more */
	uint64_t pages;
} sizes[] = {
	{ 0, 0, 0 }, { 0, 1, 1 }, { 1, -1, 1 }, { 1, 0, 1 }, { 1, 1, 2 },
	{ UINT64_C(1) << 28, 0, UINT64_C(1) << 28 },
};

static uint64_t bytes_of(uint32_t i)
{
	return sizes[i].whole * PAGE + (uint64_t)sizes[i].beside;
}

static void test_pages_are_counted(void **state)
{
	uint64_t sum = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		assert_false(ledger_is_cached(ledger, i));
		assert_true(ledger_mark_cached(ledger, i, bytes_of(i)));
		assert_true(ledger_is_cached(ledger, i));
		sum += sizes[i].pages * PAGE;
		assert_int_equal(resident(), sum);
	}
	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		assert_true(ledger_mark_evicted(ledger, i, bytes_of(i)));
		assert_false(ledger_is_cached(ledger, i));
		sum -= sizes[i].pages * PAGE;
		assert_int_equal(resident(), sum);
	}
}

static void test_a_change_counts_once(void **state)
{
	(void)state;
	assert_false(ledger_mark_evicted(ledger, 63, 5));
	assert_true(ledger_mark_cached(ledger, 63, 5));
	assert_false(ledger_mark_cached(ledger, 63, 5));
	assert_false(ledger_is_cached(ledger, 62) || ledger_is_cached(ledger, 64));
	assert_int_equal(resident(), PAGE);
	assert_true(ledger_mark_evicted(ledger, 63, 5));
	assert_false(ledger_mark_evicted(ledger, 63, 5));
	assert_int_equal(resident(), 0);
}

static void test_nodes_that_are_none(void **state)
{
	static const uint32_t nodes[] = { NODES, NODES + 1, NODES + 64, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < COUNT(nodes); i++) {
		assert_false(ledger_mark_cached(ledger, nodes[i], 5));
		assert_false(ledger_is_cached(ledger, nodes[i]));
		assert_false(ledger_mark_evicted(ledger, nodes[i], 5));
	}
	assert_int_equal(resident(), 0);
}

static void test_clear(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NODES; i++)
		assert_true(ledger_mark_cached(ledger, i, PAGE));
	assert_int_equal(resident(), NODES * PAGE);
	ledger_clear(ledger);
	assert_int_equal(resident(), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_false(ledger_is_cached(ledger, i));
}

/*
 * A server may die, or the ledger be cleared, between the two halves of a change: what
 * is left of the sum does not turn into all the memory there could be.
 */
static void test_the_sum_never_is_below_nothing(void **state)
{
	(void)state;
	assert_true(ledger_mark_cached(ledger, 1, 3 * PAGE));
	assert_true(ledger_mark_cached(ledger, 2, 3 * PAGE));
	stats_set(COUNTER_resident_bytes, PAGE);
	assert_true(ledger_mark_evicted(ledger, 1, 3 * PAGE));
	assert_int_equal(resident(), 0);
	assert_true(ledger_mark_evicted(ledger, 2, 3 * PAGE));
	assert_int_equal(resident(), 0);
	assert_true(ledger_mark_cached(ledger, 1, PAGE));
	assert_int_equal(resident(), PAGE);
}

static uint64_t one_page(void *context, uint32_t node)
{
	(void)context;
	(void)node;
	return PAGE;
}

/* Bytes that are counted without a bit, and a bit without bytes. */
static void test_a_wrong_sum_is_seen(void **state)
{
	(void)state;
	assert_true(ledger_mark_cached(ledger, 1, PAGE));
	ledger_set_cached_part(ledger, 5);
	assert_null(ledger_check(ledger, true, one_page, NULL));
	for (int more = -1; more <= 1; more += 2) {
		const char *wrong;

		stats_set(COUNTER_resident_bytes, (2 + (uint64_t)more) * PAGE);
		wrong = ledger_check(ledger, true, one_page, NULL);
		assert_non_null(wrong);
		assert_non_null(strstr(wrong, "are not those that are counted"));
	}
}

/* A file and a block that cannot be. */
static void test_broken_states_are_seen(void **state)
{
	const char *wrong;
	uint32_t node;

	(void)state;
	ledger_begin_file(ledger, 2, NODES);
	wrong = ledger_check(ledger, false, NULL, NULL);
	assert_non_null(wrong);
	assert_non_null(strstr(wrong, "a file that is not there"));
	assert_true(ledger_pop_suspect(ledger, 2, &node));
	assert_null(ledger_check(ledger, false, NULL, NULL));
}

static int use_what_is_no_handle(void *argument)
{
	static uint64_t zeros[64];

	(void)argument;
	return ledger_is_cached((const struct ledger *)(const void *)zeros, 0);
}

static void test_a_handle_is_known(void **state)
{
	(void)state;
	assert_int_equal(unit_child(use_what_is_no_handle, NULL), 256 + SIGABRT);
}

/* Threads that hold and release the same files: at the end all is released. */
static void turn_over(void *argument)
{
	(void)argument;
	for (uint32_t i = 0; i < 100 * NODES; i++) {
		ledger_mark_cached(ledger, i * 7 % NODES, PAGE);
		ledger_mark_evicted(ledger, i * 11 % NODES, PAGE);
	}
}

/* Looks all the time whether the sum makes sense. */
static _Atomic bool over, made_no_sense;

static void watch(void *argument)
{
	(void)argument;
	while (!atomic_load(&over))
		if (resident() > (uint64_t)(NODES + 2 * THREADS) * PAGE)
			atomic_store(&made_no_sense, true);
}

static void test_threads_that_hold_and_release(void **state)
{
	struct pool *watching, *pool;
	uint64_t held = 0;

	(void)state;
	assert_int_equal(pool_start(&watching, 1), 0);
	assert_int_equal(pool_add(watching, watch, NULL), 0);
	assert_int_equal(pool_start(&pool, THREADS), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pool_add(pool, turn_over, NULL), 0);
	pool_finish(pool);
	atomic_store(&over, true);
	pool_finish(watching);
	for (uint32_t i = 0; i < NODES; i++)
		held += ledger_is_cached(ledger, i);
	assert_int_equal(resident(), held * PAGE);
	assert_null(ledger_check(ledger, true, one_page, NULL));
	assert_false(atomic_load(&made_no_sense));
}

/* The next server knows the work of the last one. */
static int be_a_server(void *argument)
{
	uint32_t block;

	(void)argument;
	ledger_mark_cached(ledger, 5, 2 * PAGE);
	ledger_begin_sweep(ledger, 10);
	for (unsigned i = 0; i < 3; i++)
		ledger_next_block(ledger, &block);
	ledger_begin_file(ledger, 3, 0);
	ledger_begin_file(ledger, 7, NODES - 1);
	ledger_begin_file(ledger, 8, 12);
	ledger_end_file(ledger, 8);
	ledger_note_crash(ledger);
	abort();
}

static void test_a_server_that_died(void **state)
{
	uint32_t block, node;

	(void)state;
	assert_int_equal(unit_child(be_a_server, NULL), 256 + SIGABRT);
	assert_true(ledger_is_cached(ledger, 5));
	assert_int_equal(resident(), 2 * PAGE);
	assert_int_equal(ledger_state(ledger), SWEEP_RUNNING);
	assert_true(ledger_next_block(ledger, &block));
	assert_int_equal(block, 3);
	assert_int_equal(ledger_crashes(ledger), 1);
	for (unsigned i = 0; i < LEDGER_WORKERS; i++) {
		bool expected = i == 3 || i == 7;

		assert_int_equal(ledger_pop_suspect(ledger, i, &node), expected);
		if (expected)
			assert_int_equal(node, i == 3 ? 0 : NODES - 1);
		assert_false(ledger_pop_suspect(ledger, i, &node));
	}
}

/* The sweep. */

static void test_the_states_of_a_sweep(void **state)
{
	uint32_t block;

	(void)state;
	assert_int_equal(ledger_state(ledger), SWEEP_WAITING);
	assert_false(ledger_next_block(ledger, &block));
	ledger_begin_sweep(ledger, 2);
	assert_int_equal(ledger_end(ledger), 2);
	assert_true(ledger_next_block(ledger, &block) && block == 0);
	assert_true(ledger_next_block(ledger, &block) && block == 1);
	assert_false(ledger_next_block(ledger, &block));
	/* the last ones are given, and may not be done */
	assert_int_equal(ledger_state(ledger), SWEEP_RUNNING);
	ledger_end_sweep(ledger);
	assert_int_equal(ledger_state(ledger), SWEEP_DONE);
	assert_int_equal(ledger_end(ledger), 2);
	ledger_begin_sweep(ledger, 0);
	assert_false(ledger_next_block(ledger, &block));
}

static void test_a_sweep_that_is_cut(void **state)
{
	uint32_t block;

	(void)state;
	ledger_begin_sweep(ledger, 5);
	assert_true(ledger_next_block(ledger, &block) && block == 0);
	ledger_cut_sweep(ledger);
	assert_int_equal(ledger_end(ledger), 1);
	assert_int_equal(ledger_state(ledger), SWEEP_RUNNING);
	assert_false(ledger_next_block(ledger, &block));
	ledger_cut_sweep(ledger);
	assert_int_equal(ledger_end(ledger), 1);
	ledger_end_sweep(ledger);
	assert_false(ledger_next_block(ledger, &block));
}

enum { BLOCKS = 100000 };

static _Atomic unsigned given[BLOCKS];

static void take_blocks(void *argument)
{
	uint32_t block;

	(void)argument;
	while (ledger_next_block(ledger, &block))
		atomic_fetch_add(&given[block], 1);
}

static void test_each_block_once(void **state)
{
	struct pool *pool;

	(void)state;
	ledger_begin_sweep(ledger, BLOCKS);
	assert_int_equal(pool_start(&pool, THREADS), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pool_add(pool, take_blocks, NULL), 0);
	pool_finish(pool);
	for (uint32_t i = 0; i < BLOCKS; i++)
		assert_int_equal(atomic_load(&given[i]), 1);
	assert_int_equal(ledger_end(ledger), BLOCKS);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

static const struct CMUnitTest tests[] = {
	CASE(test_pages_are_counted),
	CASE(test_a_change_counts_once),
	CASE(test_nodes_that_are_none),
	CASE(test_clear),
	CASE(test_the_sum_never_is_below_nothing),
	CASE(test_a_wrong_sum_is_seen),
	CASE(test_broken_states_are_seen),
	CASE(test_a_handle_is_known),
	CASE(test_threads_that_hold_and_release),
	CASE(test_a_server_that_died),
	CASE(test_the_states_of_a_sweep),
	CASE(test_a_sweep_that_is_cut),
	CASE(test_each_block_once),
};

int main(void)
{
	if (stats_share() < 0)
		return 1;
	return unit_run(tests, COUNT(tests), unit_enter, unit_leave);
}
