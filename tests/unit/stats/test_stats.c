/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters. */
#include "unit.h"

#include <ctype.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stats/stats.h"

static void test_each_counter_is_described_once(void **state)
{
	(void)state;
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_info *info = &counter_infos[i];

		assert_true(strlen(info->name) > 0 && strlen(info->sentence) > 0);
		for (const char *at = info->name; *at; at++)
			assert_true(islower((unsigned char)*at) || *at == '_');
		for (int k = 0; k < i; k++)
			assert_string_not_equal(info->name, counter_infos[k].name);
	}
}

static void *add_many(void *argument)
{
	(void)argument;
	for (int i = 0; i < 10000; i++) {
		stats_add(COUNTER_fuse_read, 1);
		stats_add(COUNTER_read_bytes, 3);
	}
	return NULL;
}

static void test_threads_lose_no_addition(void **state)
{
	pthread_t threads[8];

	(void)state;
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(stats_get(COUNTER_fuse_read), 80000);
	assert_int_equal(stats_get(COUNTER_read_bytes), 240000);
	assert_int_equal(stats_get(COUNTER_fuse_lookup), 0);
}

static void test_each_histogram_is_described_once(void **state)
{
	(void)state;
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		assert_true(strlen(histogram_infos[i].sentence) > 0);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(histogram_infos[i].name,
						histogram_infos[k].name);
	}
}

static const struct {
	uint64_t ns;
	unsigned bucket;
} cases[] = {
	{ 0, 0 }, { 1, 0 }, { 1024, 0 }, { 1025, 1 }, { 2048, 1 }, { 2049, 2 },
	{ UINT64_C(1) << 34, BUCKET_BOUNDS - 1 },
	{ (UINT64_C(1) << 34) + 1, BUCKET_BOUNDS },
	{ UINT64_MAX, BUCKET_BOUNDS },
};

static void test_buckets_end_at_powers_of_two(void **state)
{
	size_t i = unit_row(state);

	assert_int_equal(stats_bucket(cases[i].ns), cases[i].bucket);
}

static void test_only_what_a_request_waits_for_is_demand(void **state)
{
	struct histogram_cells *cells = &histogram_cells[HISTOGRAM_decode];
	uint64_t sum;

	(void)state;
	stats_add_duration(HISTOGRAM_decode, stats_clock() - 5000000, false);
	sum = cells->sum_ns;
	assert_in_range(sum, 5000000, 4000000000);
	assert_int_equal(cells->demand_ns, 0);
	stats_add_duration(HISTOGRAM_decode, stats_clock() - 7000000, true);
	assert_int_equal(cells->demand_ns, cells->sum_ns - sum);
	assert_in_range(cells->demand_ns, 7000000, 4000000000);
	/* a clock that is not the same one on each processor */
	stats_add_duration(HISTOGRAM_decode, stats_clock() + 1000000000, false);
	assert_int_equal(cells->buckets[0], 1);
}

/* Earlier counts are kept, and a child counts into the same cells. */
static void test_shared_cells_outlive_a_fork(void **state)
{
	uint64_t before = stats_get(COUNTER_fuse_read);
	uint64_t slow = histogram_cells[HISTOGRAM_source_read].buckets[BUCKET_BOUNDS];
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(stats_share(), 0);
	assert_int_equal(stats_get(COUNTER_fuse_read), before);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		stats_add(COUNTER_fuse_read, 5);
		stats_add_duration(HISTOGRAM_source_read, 0, false);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(stats_get(COUNTER_fuse_read), before + 5);
	if (stats_clock() > UINT64_C(20) * 1000000000) /* the machine runs for longer */
		assert_int_equal(histogram_cells[HISTOGRAM_source_read].buckets[BUCKET_BOUNDS],
				 slow + 1);
}

static const struct CMUnitTest stats[] = {
	cmocka_unit_test(test_each_counter_is_described_once),
	cmocka_unit_test(test_threads_lose_no_addition),
	cmocka_unit_test(test_each_histogram_is_described_once),
	unit_rows(test_buckets_end_at_powers_of_two, cases),
	cmocka_unit_test(test_only_what_a_request_waits_for_is_demand),
	cmocka_unit_test(test_shared_cells_outlive_a_fork),
};

UNIT_MAIN(stats)
