/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The policy of reading ahead: history in, windows out. */
#include "unit.h"

#include "prefetch/policy.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define FAR (UINT64_C(1) << 62)
#define NODES 1000000

static struct policy policy;

static void begin(uint64_t window_most)
{
	policy_init(&policy, true, window_most, NODES);
}

static void note(int64_t ms, uint32_t node, uint32_t source, uint64_t start,
		 uint64_t length)
{
	policy_note(&policy, &(struct policy_read){ ms, node,
						    { source, start, start + length }, 0 });
}

/* Of a large file that ends at `limit`. */
static void note_large(uint64_t start, uint64_t length, uint64_t limit)
{
	policy_note(&policy, &(struct policy_read){ 0, 1, { 0, start, start + length },
						    limit });
}

static void test_a_window_is_open_while_its_stream_reads(void **state)
{
	(void)state;
	begin(FAR);
	for (uint64_t i = 0; i < 3; i++) {
		assert_false(policy_has_window(&policy));
		note(0, (uint32_t)i, 0, i * 100 * KIB, 100 * KIB);
	}
	assert_true(policy_has_window(&policy));
	note(60000, 7, 0, FAR, 100 * KIB);
	assert_false(policy_has_window(&policy));
	policy_init(&policy, false, FAR, NODES);
	for (uint64_t i = 0; i < 9; i++)
		note(0, (uint32_t)i, 0, i * 100 * KIB, 100 * KIB);
	assert_false(policy_has_window(&policy));
}

/* How many bytes are wanted now; they must follow on each other, from `from` on. */
static uint64_t wanted(uint32_t source, uint64_t from, uint64_t most)
{
	struct policy_range range;
	uint64_t at = from;

	while (policy_window(&policy, most, &range)) {
		assert_int_equal(range.source, source);
		assert_int_equal(range.start, at);
		assert_true(range.end > range.start && range.end - range.start <= most);
		at = range.end;
	}
	return at - from;
}

static bool wants_any(void)
{
	struct policy_range range;

	return policy_window(&policy, FAR, &range);
}

/* Streams. */

static void test_no_order_no_window(void **state)
{
	uint64_t at = 12345;

	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 2000; i++) {
		at = at * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		note(i, i, 0, at % (UINT64_C(1) << 40), 100 * KIB);
		assert_false(wants_any());
	}
}

static void test_neither_do_reads_backwards(void **state)
{
	(void)state;
	begin(FAR);
	for (unsigned i = 100; i > 0; i--) {
		note(0, 1, 0, i * 128 * KIB, 128 * KIB);
		assert_false(wants_any());
	}
}

static void test_the_same_bytes_again_are_no_stream(void **state)
{
	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 100; i++) {
		note(i, 1, 0, 5 * MIB, 128 * KIB);
		assert_false(wants_any());
	}
}

/* The bytes that were read ahead of the reader, after each read of a MiB. */
static const uint64_t windows_mib[] = { 0, 0, 2, 4, 8, 16, 32, 32, 32 };

static void test_a_large_file_gets_a_window_that_doubles(void **state)
{
	uint64_t fetched = 0;

	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < COUNT(windows_mib); i++) {
		uint64_t next = (i + 1) * MIB;

		note(0, 1, 3, i * MIB, MIB);
		if (fetched < next)
			fetched = next;
		fetched += wanted(3, fetched, 4 * MIB);
		/* not in drops: up to a quarter may be missing */
		assert_true(fetched - next <= windows_mib[i] * MIB);
		assert_true(fetched - next >= windows_mib[i] * MIB * 3 / 4);
	}
}

static void note_at(int64_t ms, uint64_t start, uint64_t limit)
{
	policy_note(&policy, &(struct policy_read){ ms, 1, { 0, start, start + MIB }, limit });
}

static void test_a_stream_has_storage_until_the_file_ends(void **state)
{
	(void)state;
	begin(FAR);
	note_at(1000, 0, 8 * MIB);
	assert_false(policy_streams(&policy, 1000));
	for (unsigned i = 1; i < 7; i++) {
		note_at(1000 + i, i * MIB, 8 * MIB);
		assert_int_equal(policy_streams(&policy, 1000 + i), i > 1);
	}
	assert_true(policy_streams(&policy, 1006 + POLICY_STREAM_MS));
	assert_false(policy_streams(&policy, 1007 + POLICY_STREAM_MS));
	note_at(2000, 7 * MIB, 8 * MIB);
	assert_false(policy_streams(&policy, 2000));
}

static void test_small_files_in_order_take_nothing_from_others(void **state)
{
	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 100; i++) {
		note(i, i, 0, i * 128 * KIB, 128 * KIB);
		assert_false(policy_streams(&policy, i));
	}
}

static void test_nothing_is_wanted_twice(void **state)
{
	uint64_t fetched = 3 * MIB;

	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 3; i++)
		note(0, 1, 0, i * MIB, MIB);
	for (unsigned i = 3; i < 1000; i++) {
		fetched += wanted(0, fetched, MIB);
		assert_false(wants_any());
		note(0, 1, 0, i * MIB, MIB);
	}
	assert_true(fetched >= 1000 * MIB && fetched <= 1032 * MIB);
}

static const uint64_t bounds[] = { 0, 1, 3, 4 * KIB, 3 * MIB, 20 * MIB, 32 * MIB, FAR };

static void test_the_bound_is_kept(void **state)
{
	size_t b = unit_row(state);
	uint64_t most = bounds[b] < 32 * MIB ? bounds[b] : 32 * MIB;
	uint64_t fetched = 0;

	begin(bounds[b]);
	for (unsigned i = 0; i < 100; i++) {
		note(0, 1, 0, i * MIB, MIB);
		if (fetched < (i + 1) * MIB)
			fetched = (i + 1) * MIB;
		fetched += wanted(0, fetched, FAR);
		assert_true(fetched - (i + 1) * MIB <= most);
	}
	assert_true(fetched - 100 * MIB >= most * 3 / 4);
}

static void test_streams_may_take_turns(void **state)
{
	uint64_t first = 3 * MIB, second = 903 * MIB;

	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 3; i++) {
		note(0, 1, 0, i * MIB, MIB);
		note(0, 2, 0, (900 + i) * MIB, MIB);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct policy_range range;

		assert_true(policy_window(&policy, FAR, &range));
		assert_int_equal(range.end - range.start, 2 * MIB);
		if (range.start == first)
			first = 0;
		else if (range.start == second)
			second = 0;
	}
	assert_true(first == 0 && second == 0);
	assert_false(wants_any());
}

/* All windows, with the blocks that they begin and end in. */
static uint64_t all_windows(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < POLICY_STREAMS; i++) {
		const struct policy_stream *s = &policy.streams[i];

		if (s->fetched > s->next)
			sum += s->fetched - s->next + POLICY_EDGES;
	}
	return sum;
}

static const uint64_t rooms[] = { 0, MIB, 3 * MIB, 5 * MIB, 8 * MIB, 20 * MIB, 64 * MIB };

/* Readers of large files that take turns: so many that not each can have a window. */
static void test_windows_keep_to_the_room(void **state)
{
	size_t r = unit_row(state);
	struct policy_range range;

	begin(FAR);
	policy_set_room(&policy, rooms[r]);
	for (unsigned i = 0; i < 16 * 100; i++) {
		note(i, i % 16, i % 16, i / 16 * 128 * KIB, 128 * KIB);
		while (policy_window(&policy, 4 * MIB, &range))
			assert_true(all_windows() <= rooms[r]);
		assert_true(all_windows() <= rooms[r]);
	}
	assert_int_equal(all_windows() > 0, rooms[r] > POLICY_EDGES);
}

/* Memory of a reader that went away does not keep the others from theirs. */
static void test_who_rests_holds_no_room(void **state)
{
	(void)state;
	begin(FAR);
	policy_set_room(&policy, 5 * MIB);
	for (unsigned i = 0; i < 3; i++)
		note(0, 1, 1, i * MIB, MIB);
	assert_true(wanted(1, 3 * MIB, FAR) > 0);
	for (unsigned i = 0; i < 3; i++)
		note(1, 2, 2, i * MIB, MIB);
	assert_false(wants_any());
	note(1 + POLICY_IDLE_MS, 2, 2, 3 * MIB, MIB);
	assert_true(wanted(2, 4 * MIB, FAR) > 0);
}

/* The same place of another source is somewhere else. */
static void test_sources_are_apart(void **state)
{
	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 50; i++) {
		note(0, 1, i, i * MIB, MIB);
		assert_false(wants_any());
	}
}

/* As many streams as are remembered go on beside each other; one that rests gives way. */
static void test_many_streams(void **state)
{
	unsigned with_window = 0;
	struct policy_range range;

	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned s = 0; s < POLICY_STREAMS; s++)
			note(0, s, s, i * MIB, MIB);
	while (policy_window(&policy, FAR, &range))
		with_window++;
	assert_int_equal(with_window, POLICY_STREAMS);
	for (unsigned i = 0; i < 3; i++)
		note(0, 99, 99, i * MIB, MIB);
	assert_int_equal(wanted(99, 3 * MIB, FAR), 2 * MIB);
}

static void test_small_files_in_the_order_they_are_stored(void **state)
{
	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 3; i++)
		note(0, i, 0, i * 120 * KIB + 512, 110 * KIB);
	assert_int_equal(wanted(0, 240 * KIB + 512 + 110 * KIB, FAR), 2 * MIB);
}

/* Requests of one moment come from several threads, in any order. */
static void test_read_ahead_of_the_kernel_out_of_order(void **state)
{
	static const unsigned order[] = { 1, 0, 3, 2, 6, 4, 5, 7, 9, 8, 11, 10 };

	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < COUNT(order); i++)
		note_large(order[i] * 128 * KIB, 128 * KIB, 100 * MIB);
	assert_true(wanted(0, 12 * 128 * KIB, FAR) >= 2 * MIB);
}

static void test_nothing_is_read_behind_a_large_file(void **state)
{
	const uint64_t end = 9 * MIB + 5;

	(void)state;
	begin(FAR);
	for (uint64_t at = 0; at < 8 * MIB; at += 128 * KIB)
		note_large(at, 128 * KIB, end);
	assert_int_equal(wanted(0, 8 * MIB, FAR), MIB + 5);
	note_large(8 * MIB, MIB + 5, end);
	assert_false(wants_any());
}

static void test_windows_may_be_off(void **state)
{
	(void)state;
	policy_init(&policy, false, FAR, NODES);
	for (unsigned i = 0; i < 100; i++) {
		note(0, i, 0, i * MIB, MIB);
		assert_false(wants_any());
	}
}

/* Hostile places: at the end of what a number can say. */
static void test_the_end_of_numbers(void **state)
{
	(void)state;
	begin(FAR);
	for (unsigned i = 0; i < 8; i++) {
		struct policy_range range;

		note(0, 1, UINT32_MAX, UINT64_MAX / 2 - 8 * MIB + i * MIB, MIB);
		while (policy_window(&policy, MIB, &range))
			assert_true(range.end > range.start);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_no_order_no_window),
	cmocka_unit_test(test_neither_do_reads_backwards),
	cmocka_unit_test(test_the_same_bytes_again_are_no_stream),
	cmocka_unit_test(test_a_large_file_gets_a_window_that_doubles),
	cmocka_unit_test(test_a_stream_has_storage_until_the_file_ends),
	cmocka_unit_test(test_small_files_in_order_take_nothing_from_others),
	cmocka_unit_test(test_nothing_is_wanted_twice),
	unit_rows(test_the_bound_is_kept, bounds),
	cmocka_unit_test(test_streams_may_take_turns),
	unit_rows(test_windows_keep_to_the_room, rooms),
	cmocka_unit_test(test_who_rests_holds_no_room),
	cmocka_unit_test(test_sources_are_apart),
	cmocka_unit_test(test_many_streams),
	cmocka_unit_test(test_small_files_in_the_order_they_are_stored),
	cmocka_unit_test(test_read_ahead_of_the_kernel_out_of_order),
	cmocka_unit_test(test_nothing_is_read_behind_a_large_file),
	cmocka_unit_test(test_windows_may_be_off),
	cmocka_unit_test(test_a_window_is_open_while_its_stream_reads),
	cmocka_unit_test(test_the_end_of_numbers),
};

UNIT_MAIN(tests)
