/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sweep: what is stored, when it begins, and where it ends. */
#include "prefetch/sink_kit.h"

#include <limits.h>

static int sweep_all(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	sink_state->pause_us = 500;
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) == sink_data.count);
	sink_check_idle();
	for (unsigned i = 0; i < sink_data.count; i++)
		CHECK(sink_is_stored(&sink_data.files[i], 1));
	CHECK(stats_get(COUNTER_pushed_bytes) == sink_all_bytes());
	CHECK(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	CHECK(stats_get(COUNTER_sweep_target) <= sink_all_pages() + pages_size());
	CHECK(sink_bytes_read() >= sink_all_bytes() &&
	      sink_bytes_read() <= sink_data.source_bytes);
	CHECK(stats_get(COUNTER_push_unknown) == 0);
	return 0;
}

/* Of a file that was stored, one page is asked for: the others are there. */
static int lose_a_page(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) == sink_data.count);
	sink_settle();
	for (unsigned i = 0; i < SMALL; i++)
		sink_ask(p, &sink_data.files[i], 0, PAGE);
	sink_settle();
	CHECK(stats_get(COUNTER_evicted_files) == SMALL);
	CHECK(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	return 0;
}

static void test_a_page_that_is_gone(void **state)
{
	(void)state;
	sink_run(lose_a_page);
}

static void test_a_sweep_stores_everything_once(void **state)
{
	(void)state;
	sink_run(sweep_all);
}

/* Nobody reads: several threads are at work nonetheless. */
static int sweep_by_many(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	sink_pause(100000); /* by now all of them sleep */
	sink_state->pause_us = 2000;
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) == sink_data.count);
	CHECK(atomic_load(&sink_state->embedded_most) >= 3);
	return 0;
}

static void test_a_sweep_is_the_work_of_many(void **state)
{
	(void)state;
	sink_run(sweep_by_many);
}

/* A piece is refused: the rest is stored, but the file is not held to be there. */
static int sweep_with_a_busy_piece(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	atomic_store(&sink_state->refused_at, 3 * MIB);
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) >= SMALL);
	sink_settle();
	CHECK(atomic_load(&sink_large_file()->stored[2 * MIB / PAGE]) == 1);
	CHECK(atomic_load(&sink_large_file()->stored[3 * MIB / PAGE]) == 0);
	CHECK(atomic_load(&sink_large_file()->stored[10 * MIB / PAGE]) == 1);
	CHECK(stats_get(COUNTER_resident_bytes) ==
	      sink_all_pages() - sink_pages_of(sink_large_file()));
	return 0;
}

static void test_a_file_with_a_gap_is_not_held(void **state)
{
	(void)state;
	sink_run(sweep_with_a_busy_piece);
}

static int sweep_unknown(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);
	uint64_t before;

	atomic_store(&sink_state->answer, -ENOENT);
	prefetch_sweep(p);
	WAIT_FOR(sink_bytes_read() >= sink_all_bytes());
	sink_settle();
	CHECK(sink_bytes_read() <= sink_data.source_bytes);
	CHECK(stats_get(COUNTER_resident_bytes) == 0);
	CHECK(stats_get(COUNTER_pushed_files) == 0);
	before = stats_get(COUNTER_source_reads);
	for (unsigned i = 0; i < sink_data.count; i++)
		sink_ask_all(p, &sink_data.files[i]);
	CHECK(stats_get(COUNTER_source_reads) == before);
	return 0;
}

static void test_what_the_kernel_does_not_know_is_kept(void **state)
{
	(void)state;
	sink_run(sweep_unknown);
}

static int sweep_refused(void *memory, int answer)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	atomic_store(&sink_state->answer, answer);
	prefetch_sweep(p);
	WAIT_FOR(atomic_load(&sink_state->calls) >= sink_data.count);
	sink_settle();
	/* each file was tried once, and each piece of the large one */
	CHECK(atomic_load(&sink_state->calls) == SMALL + 11);
	CHECK(sink_bytes_read() <= sink_data.source_bytes);
	CHECK(stats_get(COUNTER_resident_bytes) == 0);
	atomic_store(&sink_state->answer, 0);
	for (unsigned i = 0; i < sink_data.count; i++)
		sink_ask_all(p, &sink_data.files[i]);
	return 0;
}

static int sweep_busy(void *memory)
{
	return sweep_refused(memory, -EBUSY);
}

static int sweep_failing(void *memory)
{
	return sweep_refused(memory, -EIO);
}

static void test_a_sink_that_refuses(void **state)
{
	(void)state;
	sink_run(sweep_busy);
	sink_run(sweep_failing);
}

/* All threads wait for the sink: who reads does not wait for them. */
static int sweep_blocked(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, true, true);
	int64_t begun;

	atomic_store(&sink_state->blocked, true);
	prefetch_sweep(p);
	WAIT_FOR(atomic_load(&sink_state->inside) > 0);
	begun = sink_now_ms();
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < sink_data.count; i++)
			sink_ask_all(p, &sink_data.files[i]);
	CHECK(sink_now_ms() - begun < PATIENCE_MS / 2);
	CHECK(atomic_load(&sink_state->inside) > 0);
	atomic_store(&sink_state->blocked, false);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	sink_settle();
	CHECK(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	return 0;
}

static void test_nobody_waits_for_the_sink(void **state)
{
	(void)state;
	sink_run(sweep_blocked);
}

/* A look at ten files is no reason for more; an epoch wants everything. */
static int load_some(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	for (unsigned i = 0; i < 10; i++)
		sink_ask_all(p, &sink_data.files[i * 29]);
	sink_pause(300000);
	CHECK(atomic_load(&sink_state->calls) == 0);
	for (unsigned i = 0; i < 100; i++)
		sink_ask_all(p, &sink_data.files[i * 7 % SMALL]);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	sink_settle();
	for (unsigned i = 0; i < sink_data.count; i++) {
		CHECK(sink_is_stored(&sink_data.files[i], 0) ||
		      sink_is_stored(&sink_data.files[i], 1));
		CHECK(atomic_load(&sink_data.files[i].there));
	}
	CHECK(stats_get(COUNTER_evicted_files) <= 40);
	return 0;
}

static void test_an_epoch_begins_the_sweep(void **state)
{
	(void)state;
	sink_run(load_some);
}

/* Nothing was listed before: the files are looked up for the sweep, and not before it. */
static int load_unknown(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	atomic_store(&sink_state->unknown, true);
	for (unsigned i = 0; i < 10; i++)
		sink_ask_all(p, &sink_data.files[i * 7 % SMALL]);
	sink_settle();
	CHECK(atomic_load(&sink_state->looked_up) == 0);
	for (unsigned i = 0; i < 100; i++)
		sink_ask_all(p, &sink_data.files[i * 7 % SMALL]);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	CHECK(atomic_load(&sink_state->looked_up) == 1);
	CHECK(stats_get(COUNTER_push_unknown) == 0);
	return 0;
}

static void test_an_epoch_of_unknown_files(void **state)
{
	(void)state;
	sink_run(load_unknown);
}

/* Readers and the sweep at the same time: nothing is missing at the end. */
static int load_all(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, true, true);

	for (unsigned i = 0; i < sink_data.count; i++)
		sink_ask_all(p, &sink_data.files[i * 97 % sink_data.count]);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	sink_check_idle();
	CHECK(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	/* what is read before there is an order is read by itself */
	CHECK(sink_bytes_read() <= sink_data.source_bytes * 3 / 2);
	return 0;
}

static void test_a_loader_reads_everything(void **state)
{
	(void)state;
	sink_run(load_all);
}

static int sweep_some(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = sink_start(memory, budget, false, true);

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && sink_is_swept());
	sink_settle();
	CHECK(stats_get(COUNTER_resident_bytes) == sink_pages_there());
	CHECK(sink_pages_there() <= budget * 3 / 4 && sink_pages_there() >= budget / 2);
	CHECK(sink_bytes_read() <= budget);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < SMALL; i++)
			sink_ask_all(p, &sink_data.files[i * 97 % SMALL]);
		sink_check_idle();
		CHECK(sink_pages_there() <= budget);
		CHECK(stats_get(COUNTER_resident_bytes) <= budget);
		CHECK(stats_get(COUNTER_cache_bytes) <= budget / 2);
	}
	CHECK(atomic_load(&sink_state->drops) > 0);
	CHECK(stats_get(COUNTER_dropped_files) == atomic_load(&sink_state->drops));
	return 0;
}

static void test_what_is_beyond_the_budget_goes_again(void **state)
{
	(void)state;
	sink_run(sweep_some);
}

/* A file that is being read when it is to go, goes later. */
static int drop_what_is_busy(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = sink_start(memory, budget, false, true);

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && sink_is_swept());
	atomic_store(&sink_state->busy_drops, 40);
	for (unsigned i = 0; i < SMALL; i++)
		sink_ask_all(p, &sink_data.files[i * 97 % SMALL]);
	WAIT_FOR(atomic_load(&sink_state->busy_drops) == 0);
	WAIT_FOR(sink_pages_there() - stats_get(COUNTER_resident_bytes) <=
		 budget / 16 + 256 * KIB);
	/* and nobody tries all the time where there is no other */
	atomic_store(&sink_state->busy_drops, UINT_MAX);
	sink_ask_all(p, sink_large_file());
	sink_check_idle();
	CHECK(UINT_MAX - atomic_load(&sink_state->busy_drops) < 200);
	return 0;
}

static void test_what_is_busy_is_dropped_later(void **state)
{
	(void)state;
	sink_run(drop_what_is_busy);
}

/* Files that were read before a loader was seen are within the budget as well, or go. */
static int read_before_the_sweep(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = sink_start(memory, budget, false, true);

	sink_ask_all(p, sink_large_file());
	WAIT_FOR(stats_get(COUNTER_resident_bytes) >= sink_pages_of(sink_large_file()));
	for (unsigned i = 0; i < 100; i++)
		sink_ask_all(p, &sink_data.files[i * 7 % SMALL]);
	WAIT_FOR(sink_is_swept() && !atomic_load(&sink_large_file()->there));
	sink_settle();
	CHECK(stats_get(COUNTER_sweep_limit) == LIMIT_BUDGET);
	CHECK(sink_pages_there() <= budget &&
	      stats_get(COUNTER_resident_bytes) <= budget);
	return 0;
}

static void test_what_was_read_before_the_sweep_goes(void **state)
{
	(void)state;
	sink_run(read_before_the_sweep);
}

/* The budget ends within a large file: what is behind that goes after use. */
static int sweep_a_part_of_a_file(void *memory)
{
	const uint64_t budget = 20 * MIB;
	struct prefetch *p = sink_start(memory, budget, false, true);
	uint64_t from;

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && sink_is_swept());
	sink_settle();
	CHECK(atomic_load(&sink_large_file()->stored[0]) == 1);
	CHECK(atomic_load(&sink_large_file()->stored[9 * MIB / PAGE]) == 0);
	/* what is there is counted, though it is no whole file */
	CHECK(stats_get(COUNTER_resident_bytes) == sink_pages_stored());
	CHECK(stats_get(COUNTER_resident_bytes) + stats_get(COUNTER_cache_bytes) <=
	      budget);
	for (unsigned epoch = 1; epoch <= 2; epoch++) {
		sink_ask_all(p, sink_large_file());
		WAIT_FOR(atomic_load(&sink_state->drops) == epoch);
		from = atomic_load(&sink_state->dropped_from);
		CHECK(from > 0 &&
		      atomic_load(&sink_large_file()->stored[from / PAGE]) == 0);
		CHECK(atomic_load(&sink_large_file()->stored[from / PAGE - 1]) == 1);
		CHECK(stats_get(COUNTER_resident_bytes) <= budget);
	}
	return 0;
}

static void test_a_file_that_is_held_in_part(void **state)
{
	(void)state;
	sink_run(sweep_a_part_of_a_file);
}

/* There is no room for any of it. */
static int sweep_none(void *memory)
{
	struct prefetch *p = sink_start(memory, 1, true, true);

	prefetch_sweep(p);
	sink_settle(); /* what is read before there is an order is not known to be too
			  much */
	for (unsigned i = 0; i < sink_data.count; i++)
		sink_ask_all(p, &sink_data.files[i]);
	sink_check_idle();
	CHECK(sink_pages_there() <= LARGE_BYTES + PAGE);
	CHECK(stats_get(COUNTER_pushed_files) == 0);
	return 0;
}

static void test_no_budget_at_all(void **state)
{
	(void)state;
	sink_run(sweep_none);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_page_that_is_gone),
	cmocka_unit_test(test_a_sweep_stores_everything_once),
	cmocka_unit_test(test_a_sweep_is_the_work_of_many),
	cmocka_unit_test(test_a_file_with_a_gap_is_not_held),
	cmocka_unit_test(test_what_the_kernel_does_not_know_is_kept),
	cmocka_unit_test(test_a_sink_that_refuses),
	cmocka_unit_test(test_nobody_waits_for_the_sink),
	cmocka_unit_test(test_an_epoch_begins_the_sweep),
	cmocka_unit_test(test_an_epoch_of_unknown_files),
	cmocka_unit_test(test_a_loader_reads_everything),
	cmocka_unit_test(test_what_is_beyond_the_budget_goes_again),
	cmocka_unit_test(test_what_is_busy_is_dropped_later),
	cmocka_unit_test(test_what_was_read_before_the_sweep_goes),
	cmocka_unit_test(test_a_file_that_is_held_in_part),
	cmocka_unit_test(test_no_budget_at_all),
};

SINK_MAIN(tests, sink_enter)
