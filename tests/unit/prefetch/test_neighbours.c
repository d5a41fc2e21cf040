/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chunks that are looked at for files to push. */
#include "unit.h"

#include "prefetch/neighbours.h"

static struct neighbours queue;

static void add(uint64_t start, bool evicted)
{
	neighbours_add(&queue, &(struct neighbourhood){ { 1, start, start + 100 }, evicted });
}

/* How many are queued; none is then. */
static unsigned taken(void)
{
	struct neighbourhood around;
	unsigned count = 0;

	while (neighbours_pop(&queue, &around))
		count++;
	return count;
}

static void test_a_chunk_is_queued_once(void **state)
{
	struct neighbourhood around;

	(void)state;
	queue = (struct neighbours){ .vain = 0 };
	assert_false(neighbours_pop(&queue, &around));
	for (uint64_t i = 0; i < 3; i++) {
		add(100, false);
		add(200, i == 1);
	}
	neighbours_add(&queue, &(struct neighbourhood){ { 2, 100, 200 }, false });
	assert_true(neighbours_pop(&queue, &around));
	assert_int_equal(around.stored.start, 100);
	assert_false(around.evicted);
	assert_true(neighbours_pop(&queue, &around));
	assert_int_equal(around.stored.start, 200);
	assert_true(around.evicted);
	assert_true(neighbours_pop(&queue, &around));
	assert_int_equal(around.stored.source, 2);
	assert_int_equal(taken(), 0);
}

static void test_what_has_no_room_is_left_out(void **state)
{
	(void)state;
	queue = (struct neighbours){ .vain = 0 };
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 2 * NEIGHBOURS_ROOM; i++)
			add(i * 100, false);
		assert_int_equal(taken(), NEIGHBOURS_ROOM);
	}
}

/* Where nothing can be pushed, few are tried; where something can, all are again. */
static void test_vain_pushes_get_rare(void **state)
{
	unsigned tried = 0;

	(void)state;
	queue = (struct neighbours){ .vain = 0 };
	for (uint64_t i = 0; i < 10000; i++) {
		add(i * 100, false);
		if (taken()) {
			tried++;
			neighbours_pushed(&queue, false);
		}
	}
	assert_in_range(tried, 10000 / 100, 10000 / 50);
	add(100, true); /* the kernel knows this one, and had it */
	assert_int_equal(taken(), 1);
	neighbours_pushed(&queue, true);
	for (uint64_t i = 0; i < 10; i++)
		add(i * 100, false);
	assert_int_equal(taken(), 10);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_chunk_is_queued_once),
	cmocka_unit_test(test_what_has_no_room_is_left_out),
	cmocka_unit_test(test_vain_pushes_get_rare),
};

UNIT_MAIN(tests)
