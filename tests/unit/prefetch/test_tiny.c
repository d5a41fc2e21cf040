/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thousands of files of a few bytes. */
#include "prefetch/sink_kit.h"

#include "os/memory.h"

/*
 * Nobody has looked at the names yet when the sweep is planned: what the kernel will keep
 * of them is within the budget as well.
 */
static int sweep_before_the_names(void *memory)
{
	const uint64_t budget = 40 * MIB, name_bytes = 2000;
	struct prefetch *p;
	uint64_t files;

	stats_set(COUNTER_name_bytes, name_bytes);
	p = sink_start(memory, budget, false, true);
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_sweep_limit) == LIMIT_BUDGET || sink_is_swept());
	sink_settle();
	files = stats_get(COUNTER_pushed_files);
	CHECK(sink_pages_there() + files * name_bytes <= budget - memory_cache_part(budget));
	CHECK(stats_get(COUNTER_sweep_limit) ==
	      (files < TINY ? LIMIT_BUDGET : LIMIT_NONE));
	return 0;
}

static void test_names_to_come_are_within_the_budget(void **state)
{
	(void)state;
	sink_run(sweep_before_the_names);
}

static int drop_tiny(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = sink_start(memory, budget, false, true);

	prefetch_sweep(p);
	sink_settle();
	for (unsigned i = 0; i < sink_data.count; i++) {
		sink_ask(p, &sink_data.files[i], 0, TINY_BYTES);
		if (i % 100 == 0)
			sink_pause(1000);
	}
	sink_check_idle();
	CHECK(sink_pages_there() <= budget);
	return 0;
}

/* A file of a few bytes takes a page: the budget is full of them soon. */
static void test_tiny_files_are_dropped_as_well(void **state)
{
	(void)state;
	sink_run(drop_tiny);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names_to_come_are_within_the_budget),
	cmocka_unit_test(test_tiny_files_are_dropped_as_well),
};

SINK_MAIN(tests, sink_enter_tiny)
