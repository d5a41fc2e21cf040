/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is another sweep worth it? */
#include "unit.h"

#include "prefetch/repeat_sweep.h"

#define MIB (UINT64_C(1) << 20)

/* After so many sweeps, of which the last began at 0. */
static struct repeat_sweep after(unsigned times)
{
	struct repeat_sweep again = { 0 };

	for (unsigned i = 0; i < times; i++)
		repeat_sweep_begin(&again, 0);
	return again;
}

static void lose(struct repeat_sweep *again, unsigned files, uint64_t bytes)
{
	for (unsigned i = 0; i < files; i++)
		repeat_sweep_add_reread(again, bytes);
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
		struct repeat_sweep again = after(1);

		lose(&again, cases[i].enough - 1, cases[i].bytes);
		assert_int_equal(repeat_sweep_decide(&again, 1000000, false,
						     cases[i].target), SWEEP_REPEAT_NONE);
		lose(&again, 1, cases[i].bytes);
		assert_int_equal(repeat_sweep_decide(&again, 1000000, false,
						     cases[i].target), SWEEP_REPEAT_ALL);
		repeat_sweep_begin(&again, 1000000);
		assert_int_equal(repeat_sweep_decide(&again, 9000000, false,
						     cases[i].target), SWEEP_REPEAT_NONE);
	}
}

static void test_nothing_lost(void **state)
{
	struct repeat_sweep again = after(1);

	(void)state;
	assert_int_equal(repeat_sweep_decide(&again, 1000000, false, 0),
			 SWEEP_REPEAT_NONE);
	assert_int_equal(repeat_sweep_decide(&again, 1000000, false, MIB),
			 SWEEP_REPEAT_NONE);
}

static void test_memory_was_short(void **state)
{
	struct repeat_sweep again = after(1);

	(void)state;
	assert_int_equal(repeat_sweep_decide(&again, 1000, true, MIB), SWEEP_REPEAT_NONE);
	assert_int_equal(repeat_sweep_decide(&again, 3000, true, MIB),
			 SWEEP_REPEAT_REMAINDER);
	lose(&again, 4, 0);
	assert_int_equal(repeat_sweep_decide(&again, 3000, true, MIB),
			 SWEEP_REPEAT_REMAINDER);
	assert_int_equal(repeat_sweep_decide(&again, 31000, true, MIB), SWEEP_REPEAT_ALL);
}

/* And no longer than some two hours. */
static void test_twice_as_long_each_time(void **state)
{
	int64_t rest_ms = 2000, all_ms = 30000;

	(void)state;
	for (unsigned times = 1; times < 100; times++) {
		struct repeat_sweep again = after(times);

		assert_int_equal(repeat_sweep_decide(&again, rest_ms, true, MIB),
				 SWEEP_REPEAT_NONE);
		assert_int_equal(repeat_sweep_decide(&again, rest_ms + 1, true, MIB),
				 SWEEP_REPEAT_REMAINDER);
		lose(&again, 4, 0);
		assert_int_equal(repeat_sweep_decide(&again, all_ms, false, MIB),
				 SWEEP_REPEAT_NONE);
		assert_int_equal(repeat_sweep_decide(&again, all_ms + 1, false, MIB),
				 SWEEP_REPEAT_ALL);
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
