/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that wait to leave the page cache, and when they go. */
#include "unit.h"

#include "prefetch/drops.h"

#define MIB (UINT64_C(1) << 20)

static struct drops drops; /* too large for a stack */

static struct drop file(uint32_t node, uint64_t bytes, int64_t now)
{
	return (struct drop){ .node = node, .bytes = bytes, .since = now };
}

static void put(uint32_t node, uint64_t bytes, int64_t now)
{
	struct drop drop = file(node, bytes, now);

	assert_true(drops_add(&drops, &drop));
}

/* The file that goes, or -1. */
static int taken(int64_t now)
{
	struct drop drop;

	return drops_pop(&drops, now, &drop) ? (int)drop.node : -1;
}

/* A sixteenth of the budget stays, and what was read first goes first. */
static void test_small_files_go_in_turn(void **state)
{
	(void)state;
	drops_init(&drops, 16 * MIB);
	for (uint32_t i = 0; i < 10; i++) {
		put(i, MIB / 10, 0);
		assert_false(drops_are_full(&drops));
	}
	put(10, MIB / 10, 0);
	assert_int_equal(taken(0), 0);
	assert_int_equal(taken(0), -1);
	put(11, MIB / 10, 0);
	assert_int_equal(taken(0), 1);
	assert_int_equal(taken(0), -1);
}

/* The reader of its end may not be there yet. */
static void test_a_large_file_rests(void **state)
{
	(void)state;
	drops_init(&drops, 16 * MIB);
	put(7, 5 * MIB, 1000);
	assert_true(drops_are_full(&drops));
	assert_int_equal(taken(1000), -1);
	assert_int_equal(taken(1000 + DROPS_DELAY_MS - 1), -1);
	assert_int_equal(taken(1000 + DROPS_DELAY_MS), 7);
	assert_false(drops_are_full(&drops));
}

/* A file that cannot go is not tried all the time, and holds up no other. */
static void test_a_busy_file_is_tried_again_later(void **state)
{
	struct drop drop;

	(void)state;
	drops_init(&drops, 16 * MIB);
	put(1, MIB, 0);
	put(2, MIB, 0);
	assert_true(drops_pop(&drops, 0, &drop));
	assert_int_equal(drop.node, 1);
	drops_requeue(&drops, &drop, 0);
	assert_true(drops_pop(&drops, 0, &drop));
	assert_int_equal(drop.node, 2);
	drops_requeue(&drops, &drop, 0);
	assert_true(drops_are_full(&drops));
	assert_int_equal(taken(DROPS_DELAY_MS - 1), -1);
	assert_int_equal(taken(DROPS_DELAY_MS), 1);
}

/* Tiny files fill the ring before they are many bytes. */
static void test_the_ring_is_never_full_of_tiny_files(void **state)
{
	struct drop drop = file(0, 1, 0);
	uint32_t oldest = 0;

	(void)state;
	drops_init(&drops, 1024 * MIB);
	for (uint32_t i = 0; i < 3 * DROPS_ROOM; i++) {
		put(i, 1, 0);
		while (drops_pop(&drops, 0, &drop))
			assert_int_equal(drop.node, oldest++);
	}
	assert_true(oldest >= 2 * DROPS_ROOM);
	while (drops_add(&drops, &drop))
		continue;
	assert_int_equal(drops.queue.count, DROPS_ROOM);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_small_files_go_in_turn),
	cmocka_unit_test(test_a_large_file_rests),
	cmocka_unit_test(test_a_busy_file_is_tried_again_later),
	cmocka_unit_test(test_the_ring_is_never_full_of_tiny_files),
};

UNIT_MAIN_IN(tests, NULL, NULL)
