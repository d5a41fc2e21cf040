/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processors that this process may use, and the time that they are idle. */
#include "unit.h"

#include <sched.h>

#include "os/processors.h"

/* A child with one processor: what is idle is a part of what all have been. */
static int use_one(void *all)
{
	cpu_set_t set;
	size_t first = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	while (!CPU_ISSET(first, &set))
		first++;
	CPU_ZERO(&set);
	CPU_SET(first, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0 || processors_count() != 1)
		return 2;
	return processors_idle_ns() > 0 && processors_idle_ns() < *(uint64_t *)all ? 0 : 3;
}

static void test_one_processor_is_idle_for_less_time_than_all(void **state)
{
	uint64_t all = processors_idle_ns();

	(void)state;
	if (processors_count() < 2)
		skip();
	assert_int_equal(unit_child(use_one, &all), 0);
}

static void test_idle_time_only_grows(void **state)
{
	uint64_t before = processors_idle_ns();

	(void)state;
	assert_true(before > 0);
	assert_true(processors_idle_ns() >= before);
}

static void test_a_thread_takes_processor_time(void **state)
{
	uint64_t before = processors_thread_ns();

	(void)state;
	while (processors_thread_ns() - before < 1000000)
		;
	assert_true(processors_thread_ns() > before);
}

static const struct {
	const char *name;
	unsigned thousandths;
	uint64_t before, now, spare;
} quotas[] = {
	{ "none", 0, 100, 200, UINT64_MAX },
	{ "two processors, one taken", 2000, 5000000, 205000000, 200000000 },
	{ "half of one, idle", 500, 5000000, 5000000, 100000000 },
	{ "half of one, all taken", 500, 5000000, 105000000, 0 },
	{ "a burst above it", 500, 5000000, 405000000, 0 },
	{ "an unknown time", 1500, 0, 205000000, 300000000 },
	{ "a time that can no longer be read", 1500, 5000000, 0, 300000000 },
};

static void test_quotas(void **state)
{
	size_t i = unit_row(state);

	assert_int_equal(processors_spare_of(quotas[i].thousandths, 200000000,
					     quotas[i].before, quotas[i].now),
			 quotas[i].spare);
}

static void test_no_more_processors_than_are_allowed(void **state)
{
	(void)state;
	assert_in_range(processors_count(), 1, processors_allowed());
}

static const struct CMUnitTest tests[] = {
	unit_table(test_quotas, quotas, name),
	cmocka_unit_test(test_no_more_processors_than_are_allowed),
	cmocka_unit_test(test_one_processor_is_idle_for_less_time_than_all),
	cmocka_unit_test(test_idle_time_only_grows),
	cmocka_unit_test(test_a_thread_takes_processor_time),
};

UNIT_MAIN(tests)
