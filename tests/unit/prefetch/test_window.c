/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes are read once: windows, loaders, and a cache without a sink. */
#include "prefetch/sink_kit.h"

/* A stream through what is beyond the budget: a window ahead of it, each byte once. */
static int stream_beyond(void *memory)
{
	const uint64_t budget = 16 * MIB;
	struct prefetch *p = sink_start(memory, budget, true, true);
	uint64_t before;

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && sink_is_swept());
	sink_settle();
	CHECK(atomic_load(&sink_large_file()->stored[9 * MIB / PAGE]) == 0);
	before = sink_bytes_read();
	for (uint64_t at = 0; at < LARGE_BYTES; at += 128 * KIB) {
		sink_ask(p, sink_large_file(), at, 128 * KIB);
		sink_pause(2000);
	}
	sink_check_idle();
	CHECK(sink_bytes_read() - before <= LARGE_BYTES * 5 / 4);
	return 0;
}

static void test_a_window_is_read_once(void **state)
{
	(void)state;
	sink_run(stream_beyond);
}

/*
 * Readers of several places that take turns, and a cache that does not hold a window for
 * each of them: what is read ahead is still there when it is asked for.
 */
static int read_in_turns(void *memory)
{
	enum { READERS = 5, PIECE = 64 * KIB };
	const uint64_t part = LARGE_BYTES / READERS / PIECE * PIECE;
	struct prefetch *p;

	sink_never_sweeps = true;
	p = sink_start(memory, 4 * MIB, true, true);
	for (uint64_t at = 0; at < part; at += PIECE) {
		for (unsigned i = 0; i < READERS; i++)
			sink_ask(p, sink_large_file(), i * part + at, PIECE);
		sink_pause(5000);
	}
	sink_check_idle();
	/* of the blocks at the ends of the parts two readers have a piece */
	CHECK(sink_bytes_read() <= LARGE_BYTES * 5 / 4);
	return 0;
}

static void test_windows_of_many_are_read_once(void **state)
{
	(void)state;
	sink_run(read_in_turns);
}

/*
 * A loader, whose files' neighbours are read at once: a block counts once, and what is
 * swept never is more than there is to sweep.
 */
static int load_more_than_fits(void *memory, bool with_sink)
{
	struct prefetch *p = sink_start(memory, 12 * MIB, false, with_sink);

	prefetch_sweep(p);
	for (unsigned i = 0; i < sink_data.count; i++) {
		sink_ask_all(p, &sink_data.files[i * 97 % sink_data.count]);
		CHECK(stats_get(COUNTER_swept_bytes) <= stats_get(COUNTER_sweep_target));
	}
	/* on a busy machine the sweep holds back as long as readers ask */
	WAIT_FOR(stats_get(COUNTER_swept_bytes) == stats_get(COUNTER_sweep_target));
	sink_check_idle();
	CHECK(stats_get(COUNTER_swept_bytes) == stats_get(COUNTER_sweep_target));
	return 0;
}

static int load_and_keep(void *memory)
{
	return load_more_than_fits(memory, false);
}

static int load_and_push(void *memory)
{
	return load_more_than_fits(memory, true);
}

static void test_nothing_is_swept_twice(void **state)
{
	(void)state;
	sink_run(load_and_keep);
	sink_run(load_and_push);
}

/* Nothing is pushed. */

static int keep_all(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, false);
	uint64_t before;

	prefetch_sweep(p);
	WAIT_FOR(sink_bytes_read() >= sink_all_bytes());
	sink_settle();
	CHECK(sink_bytes_read() <= sink_data.source_bytes);
	before = stats_get(COUNTER_source_reads);
	for (unsigned i = 0; i < sink_data.count; i++)
		sink_ask_all(p, &sink_data.files[i]);
	CHECK(stats_get(COUNTER_source_reads) == before);
	return 0;
}

static int keep_some(void *memory)
{
	const uint64_t budget = 12 * MIB;
	struct prefetch *p = sink_start(memory, budget, false, false);

	prefetch_sweep(p);
	WAIT_FOR(sink_bytes_read() > 0);
	sink_settle();
	CHECK(stats_get(COUNTER_cache_bytes) <= budget);
	/* one block of each thread may be on top */
	CHECK(sink_bytes_read() >= budget / 2 && sink_bytes_read() <= budget + 8 * MIB);
	for (unsigned i = 0; i < sink_data.count; i++)
		sink_ask_all(p, &sink_data.files[i]);
	sink_check_idle();
	CHECK(stats_get(COUNTER_cache_bytes) <= budget);
	return 0;
}

static void test_without_a_sink_the_cache_keeps_it(void **state)
{
	(void)state;
	sink_run(keep_all);
	sink_run(keep_some);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_window_is_read_once),
	cmocka_unit_test(test_windows_of_many_are_read_once),
	cmocka_unit_test(test_nothing_is_swept_twice),
	cmocka_unit_test(test_without_a_sink_the_cache_keeps_it),
};

SINK_MAIN(tests, sink_enter)
