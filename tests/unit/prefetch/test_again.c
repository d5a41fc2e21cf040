/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is another sweep worth it? */
#include "unit.h"

#include "prefetch/repeat_sweep.h"

#define MIB (UINT64_C(1) << 20)

/* After so many sweeps, of which the last began at 0. */
static struct again after(unsigned times)
{
	struct again again = { 0 };

	for (unsigned i = 0; i < times; i++)
		again_begin(&again, 0);
	return again;
}

static void lose(struct again *again, unsigned files, uint64_t bytes)
{
	for (unsigned i = 0; i < files; i++)
		again_lost(again, bytes);
}

static void test_what_it_has_cost(void **state)
{
	/* `enough`: as many files cost as much as the sweep: a seek each, and their bytes */
	static const struct {
		uint64_t target, bytes;
		unsigned enough;
	} cases[] = {
		{ 1024 * MIB, 256 << 10, 2048 },
		{ 1024 * MIB, 0, 4096 },
		{ 8 * MIB, 0, 32 },
		{ 64 * MIB, 64 * MIB, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct again again = after(1);

		lose(&again, cases[i].enough - 1, cases[i].bytes);
		assert_int_equal(again_look(&again, 1000000, false, cases[i].target), AGAIN_NOT);
		lose(&again, 1, cases[i].bytes);
		assert_int_equal(again_look(&again, 1000000, false, cases[i].target), AGAIN_ALL);
		again_begin(&again, 1000000);
		assert_int_equal(again_look(&again, 9000000, false, cases[i].target), AGAIN_NOT);
	}
}

static void test_nothing_lost(void **state)
{
	struct again again = after(1);

	(void)state;
	assert_int_equal(again_look(&again, 1000000, false, 0), AGAIN_NOT);
	assert_int_equal(again_look(&again, 1000000, false, MIB), AGAIN_NOT);
}

static void test_memory_was_short(void **state)
{
	struct again again = after(1);

	(void)state;
	assert_int_equal(again_look(&again, 1000, true, MIB), AGAIN_NOT);
	assert_int_equal(again_look(&again, 3000, true, MIB), AGAIN_THE_REST);
	lose(&again, 4, 0);
	assert_int_equal(again_look(&again, 3000, true, MIB), AGAIN_THE_REST);
	assert_int_equal(again_look(&again, 31000, true, MIB), AGAIN_ALL);
}

/* And no longer than some two hours. */
static void test_twice_as_long_each_time(void **state)
{
	int64_t rest_ms = 2000, all_ms = 30000;

	(void)state;
	for (unsigned times = 1; times < 100; times++) {
		struct again again = after(times);

		assert_int_equal(again_look(&again, rest_ms, true, MIB), AGAIN_NOT);
		assert_int_equal(again_look(&again, rest_ms + 1, true, MIB), AGAIN_THE_REST);
		lose(&again, 4, 0);
		assert_int_equal(again_look(&again, all_ms, false, MIB), AGAIN_NOT);
		assert_int_equal(again_look(&again, all_ms + 1, false, MIB), AGAIN_ALL);
		rest_ms *= times <= 8 ? 2 : 1;
		all_ms *= times <= 8 ? 2 : 1;
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_what_it_has_cost),
	cmocka_unit_test(test_nothing_lost),
	cmocka_unit_test(test_memory_was_short),
	cmocka_unit_test(test_twice_as_long_each_time),
};

UNIT_MAIN(tests)
