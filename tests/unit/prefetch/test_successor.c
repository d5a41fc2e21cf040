/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Servers that follow each other, and storage that fails. */
#include "prefetch/sink_kit.h"

#include <signal.h>

static int die_of(void *memory, unsigned file)
{
	struct prefetch *p;

	sink_state->pause_us = 1000;
	sink_state->dies_of = sink_data.files[file].node;
	p = sink_start(memory, 1024 * MIB, false, true);
	prefetch_sweep(p);
	sink_pause(PATIENCE_MS * 1000);
	return 1;
}

static int die_of_a_file(void *memory)
{
	return die_of(memory, 150);
}

/* By then each block has been given to a thread. */
static int die_at_the_end(void *memory)
{
	return die_of(memory, SMALL);
}

/* A piece that was stored just before a death is stored again. */
static bool is_whole(const struct sink_file *file)
{
	for (uint64_t i = 0; i * PAGE < file->size; i++) {
		unsigned times = atomic_load(&file->stored[i]);

		if (times < 1 || times > 2)
			return false;
	}
	return true;
}

static unsigned missing_files(void)
{
	unsigned missing = !is_whole(sink_large_file());

	for (unsigned i = 0; i < SMALL; i++)
		missing += !sink_is_stored(&sink_data.files[i], 1);
	return missing;
}

enum { LEFT_OUT_MOST = 8 };

static int take_over(void *memory)
{
	struct prefetch *p;

	sink_state->dies_of = 0;
	sink_state->pause_us = 0;
	p = sink_start_after(memory, 1024 * MIB, false, true, true);
	prefetch_sweep(p);
	WAIT_FOR(missing_files() <= LEFT_OUT_MOST);
	sink_check_idle();
	return 0;
}

/* The one before was killed: that says nothing of what it was at. */
static int finish_for_one_killed(void *memory)
{
	sink_state->dies_of = 0;
	sink_state->pause_us = 0;
	sink_start(memory, 1024 * MIB, false, true);
	WAIT_FOR(sink_is_swept());
	sink_check_idle();
	for (unsigned i = 0; i < sink_data.count; i++)
		CHECK(is_whole(&sink_data.files[i]));
	CHECK(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	CHECK(stats_get(COUNTER_swept_bytes) == stats_get(COUNTER_sweep_target));
	CHECK(stats_get(COUNTER_swept_bytes) <= sink_all_pages());
	return 0;
}

static void run_with_a_death(int (*first)(void *))
{
	struct ledger *memory = sink_memory();

	sink_forget();
	assert_int_equal(unit_child(first, memory), 256 + SIGKILL);
	assert_int_equal(unit_child(finish_for_one_killed, memory), 0);
	prefetch_memory_free(memory);
}

static void test_what_a_killed_server_was_at_is_stored(void **state)
{
	(void)state;
	run_with_a_death(die_of_a_file);
	run_with_a_death(die_at_the_end);
}

static void test_a_successor_goes_on(void **state)
{
	struct ledger *memory = sink_memory();

	(void)state;
	sink_forget();
	assert_int_equal(unit_child(die_of_a_file, memory), 256 + SIGKILL);
	assert_int_equal(unit_child(take_over, memory), 0);
	for (unsigned i = 0; i < SMALL; i++)
		assert_true(atomic_load(&sink_data.files[i].stored[0]) <= 1);
	assert_true(sink_is_stored(&sink_data.files[150], 0));
	/*
	 * The work of the first one's threads, the large file perhaps: others come
	 * to it where the thread that dies is slow.
	 */
	assert_in_range(missing_files(), 1, LEFT_OUT_MOST);
	prefetch_memory_free(memory);
}

/* Storage that fails: the last test, for it cuts a source off. */
static int sweep_cut(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, true, true);

	CHECK(truncate("0.bin", 5 * MIB) == 0);
	prefetch_sweep(p);
	WAIT_FOR(sink_is_stored(sink_large_file(), 1));
	sink_check_idle();
	for (unsigned i = 0; i < SMALL; i++) {
		const struct sink_file *file = &sink_data.files[i];
		bool is_whole = file->offset + file->size <= 5 * MIB;

		CHECK(sink_is_stored(file, is_whole ? 1 : 0));
	}
	sink_ask_all(p, &sink_data.files[0]);
	return 0;
}

static void test_a_source_that_fails(void **state)
{
	(void)state;
	sink_run(sweep_cut);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_what_a_killed_server_was_at_is_stored),
	cmocka_unit_test(test_a_successor_goes_on),
	cmocka_unit_test(test_a_source_that_fails),
};

SINK_MAIN(tests, sink_enter)
