/* The counters. */
#include "unit.h"

#include <ctype.h>
#include <pthread.h>

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

static const struct CMUnitTest stats[] = {
	cmocka_unit_test(test_each_counter_is_described_once),
	cmocka_unit_test(test_threads_lose_no_addition),
};

UNIT_MAIN(stats)
