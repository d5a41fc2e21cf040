/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chunks in memory: made once, held, dropped in order. */
#include "cache/cache_kit.h"

#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <unistd.h>

#include "cache/key.h"
#include "os/pages.h"

static void test_a_chunk_is_made_once(void **state)
{
	struct cache *cache = new_cache(MB);
	struct maker maker = { .key = 7, .result = 100 };
	struct cache_pin *first, *second;

	(void)state;
	assert_int_equal(cache_get(cache, 7, 4096, make, &maker, &first), 0);
	assert_int_equal(cache_get(cache, 7, 4096, make, &maker, &second), 0);
	assert_int_equal(maker.fills, 1);
	assert_int_equal(cache_size(first), 100);
	assert_ptr_equal(cache_data(first), cache_data(second));
	cache_put(cache, first);
	assert_memory_equal(cache_data(second), &maker.key, sizeof(maker.key));
	check(cache);
	cache_put(cache, second);
	assert_true(there(cache, 7, 4096));
	check(cache);
	assert_false(there(cache, 8, 4096));
	cache_free(cache);
	cache_free(NULL);
}

static void test_an_error_is_not_remembered(void **state)
{
	struct cache *cache = new_cache(MB);
	struct maker maker = { .key = 1, .result = -EIO };
	struct cache_pin *pin;

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(cache_get(cache, 1, 64, make, &maker, &pin), -EIO);
		assert_int_equal(maker.fills, i);
	}
	maker.result = 0;
	assert_int_equal(cache_get(cache, 1, 64, make, &maker, &pin), 0);
	assert_int_equal(cache_size(pin), 0);
	cache_put(cache, pin);
	assert_int_equal(cache_get(cache, 2, SIZE_MAX, make, &maker, &pin), -ENOMEM);
	cache_free(cache);
}

static void test_the_one_unused_for_longest_goes_first(void **state)
{
	struct cache *cache = new_cache(4 * MB + MB / 2);

	(void)state;
	for (uint64_t key = 1; key <= 4; key++)
		use(cache, key, MB);
	use(cache, 1, MB); /* from oldest to newest: 2 3 4 1 */
	use(cache, 5, MB);
	use(cache, 6, MB);
	assert_false(there(cache, 2, MB));
	assert_false(there(cache, 3, MB));
	assert_true(there(cache, 4, MB));
	assert_true(there(cache, 1, MB));
	assert_true(there(cache, 5, MB));
	assert_true(there(cache, 6, MB));
	cache_free(cache);
}

static void test_what_is_held_stays(void **state)
{
	struct cache *cache = new_cache(2 * MB);
	struct cache_pin *pins[8];

	(void)state;
	for (uint64_t key = 0; key < COUNT(pins); key++)
		pins[key] = get(cache, key, MB);
	for (uint64_t key = 100; key < 110; key++)
		use(cache, key, MB);
	for (uint64_t key = 0; key < COUNT(pins); key++) {
		assert_true(there(cache, key, MB));
		assert_memory_equal(cache_data(pins[key]), &key, sizeof(key));
		cache_put(cache, pins[key]);
	}
	assert_true(there(cache, COUNT(pins) - 1, MB));
	assert_false(there(cache, 0, MB));
	cache_free(cache);
}

static void test_a_chunk_larger_than_the_budget(void **state)
{
	static const uint64_t budgets[] = { 0, 1, MB, 20 * MB, 64 * MB };

	(void)state;
	for (size_t i = 0; i < COUNT(budgets); i++) {
		struct cache *cache = new_cache(budgets[i]);

		for (uint64_t key = 1; key < 12; key++) {
			use(cache, key, budgets[i] + MB);
			assert_true(there(cache, key, budgets[i] + MB));
			assert_false(there(cache, key - 1, budgets[i] + MB));
		}
		use(cache, 100, 8);
		assert_false(there(cache, 11, budgets[i] + MB));
		cache_free(cache);
	}
}

/* With several shards, too, a chunk may have what the others do not need. */
static void test_the_budget_is_that_of_all_chunks(void **state)
{
	struct cache *cache = new_cache(64 * MB);

	(void)state;
	use(cache, 0, 50 * MB);
	for (uint64_t key = 1; key < 12; key++)
		use(cache, key, MB);
	assert_true(there(cache, 0, 50 * MB));
	for (uint64_t key = 12; key < 24; key++) {
		use(cache, key, 50 * MB);
		assert_true(there(cache, key, 50 * MB));
		assert_false(there(cache, key == 12 ? 0 : key - 1, 50 * MB));
	}
	cache_free(cache);
}

static void test_the_budget_is_used_and_kept(void **state)
{
	static const uint64_t strides[] = { 1, 16, 1000, (uint64_t)1 << 40 };
	enum { ROOM = 128 * 1024, FIT = 32 * MB / ROOM, ASKED = 4 * FIT };

	(void)state;
	for (size_t i = 0; i < COUNT(strides); i++) {
		struct cache *cache = new_cache(32 * MB);
		unsigned kept = 0;

		for (uint64_t key = 0; key < ASKED; key++)
			use(cache, key * strides[i], ROOM);
		for (uint64_t key = 0; key < ASKED; key++)
			kept += there(cache, key * strides[i], ROOM);
		assert_in_range(kept, FIT * 9 / 10, FIT);
		cache_free(cache);
	}
}

static void test_more_chunks_than_buckets(void **state)
{
	enum { CHUNKS = 20000 };
	struct cache *cache = new_cache(8 * MB);

	(void)state;
	for (uint64_t key = 0; key < CHUNKS; key++)
		use(cache, key, 16);
	for (uint64_t key = 0; key < CHUNKS; key++)
		assert_true(there(cache, key, 16));
	cache_free(cache);
}

static void test_what_is_held_and_made_counts(void **state)
{
	struct cache *cache = new_cache(8 * MB);
	struct cache_pin *pins[6];

	(void)state;
	for (uint64_t key = 0; key < 7; key++)
		use(cache, key, MB);
	check(cache);
	for (uint64_t key = 0; key < COUNT(pins); key++) {
		pins[key] = get(cache, 100 + key, MB);
		assert_true(cache_bytes(cache) <= 8 * MB);
		check(cache);
	}
	assert_true(there(cache, 6, MB));
	assert_false(there(cache, 5, MB));
	for (uint64_t key = 0; key < COUNT(pins); key++)
		cache_put(cache, pins[key]);
	check(cache);
	cache_free(cache);
}

/* The cache while it makes the last of more chunks than fit. */
struct watched {
	struct cache *cache;
	uint64_t bytes;
};

static ssize_t make_watched(void *context, void *buffer, size_t room)
{
	struct watched *watched = context;

	(void)buffer;
	(void)room;
	watched->bytes = cache_bytes(watched->cache);
	assert_true(cache_has(watched->cache, 50));
	return -EIO;
}

static void test_room_is_made_before_a_chunk(void **state)
{
	struct watched watched = { .cache = new_cache(8 * MB) };
	struct cache_pin *pin;

	(void)state;
	for (uint64_t key = 0; key < 7; key++)
		use(watched.cache, key, MB);
	assert_int_equal(cache_get(watched.cache, 50, 3 * MB, make_watched, &watched, &pin),
			 -EIO);
	assert_in_range(watched.bytes, 7 * MB, 8 * MB);
	assert_false(there(watched.cache, 2, MB));
	assert_true(there(watched.cache, 3, MB));
	assert_false(cache_has(watched.cache, 50));
	check(watched.cache);
	cache_free(watched.cache);
}

static void test_the_budget_changes_at_once(void **state)
{
	struct cache *cache = new_cache(64 * MB);
	struct cache_pin *pin;

	(void)state;
	for (uint64_t key = 0; key < 60; key++)
		use(cache, key, MB);
	pin = get(cache, 3, MB);
	cache_set_budget(cache, 8 * MB);
	assert_true(cache_bytes(cache) <= 8 * MB);
	check(cache);
	for (uint64_t key = 54; key < 60; key++)
		assert_true(there(cache, key, MB));
	assert_true(there(cache, 3, MB));
	cache_set_budget(cache, 0);
	assert_in_range(cache_bytes(cache), MB, MB + pages_size());
	check(cache);
	cache_put(cache, pin);
	cache_set_budget(cache, 0);
	assert_int_equal(cache_bytes(cache), 0);
	assert_int_equal(stats_get(COUNTER_cache_bytes), 0);
	cache_set_budget(cache, 40 * MB);
	for (uint64_t key = 0; key < 38; key++)
		use(cache, key, MB);
	assert_true(there(cache, 0, MB));
	assert_int_equal(stats_get(COUNTER_cache_bytes), cache_bytes(cache));
	cache_free(cache);
}

static void use_up(struct cache *cache, uint64_t key, size_t room)
{
	cache_put_used(cache, get(cache, key, room));
}

static struct cache *new_cache_with(uint64_t budget, uint64_t used)
{
	struct cache *cache = cache_new(&(struct cache_limits){ budget, used });

	assert_non_null(cache);
	return cache;
}

static void test_of_the_used_ones_a_few_are_kept(void **state)
{
	struct cache *cache = new_cache_with(64 * MB, 4 * MB + MB / 2);

	(void)state;
	for (uint64_t key = 0; key < 20; key++) {
		use_up(cache, key, MB);
		check(cache);
	}
	for (uint64_t key = 0; key < 16; key++)
		assert_false(cache_has(cache, key));
	for (uint64_t key = 16; key < 20; key++)
		assert_true(cache_has(cache, key));
	use_up(cache, 99, 5 * MB);
	assert_false(cache_has(cache, 99));
	check(cache);
	cache_free(cache);
	cache = new_cache_with(64 * MB, 0);
	use_up(cache, 1, MB);
	assert_false(cache_has(cache, 1));
	cache_free(cache);
	/* one that is larger than the budget stays only if it is to be read on */
	cache = new_cache_with(MB, 4 * MB);
	use_up(cache, 1, 2 * MB);
	assert_false(cache_has(cache, 1));
	use(cache, 1, 2 * MB);
	assert_true(cache_has(cache, 1));
	check(cache);
	cache_free(cache);
}

static void test_the_used_ones_go_first(void **state)
{
	struct cache *cache = new_cache_with(8 * MB, 4 * MB);

	(void)state;
	for (uint64_t key = 0; key < 4; key++)
		use(cache, key, MB);
	for (uint64_t key = 10; key < 13; key++)
		use_up(cache, key, MB);
	for (uint64_t key = 4; key < 6; key++)
		use(cache, key, MB);
	for (uint64_t key = 0; key < 6; key++)
		assert_true(cache_has(cache, key));
	assert_false(cache_has(cache, 10));
	assert_false(cache_has(cache, 11));
	assert_true(cache_has(cache, 12));
	check(cache);
	cache_free(cache);
}

static void test_what_is_asked_for_again_is_no_longer_used(void **state)
{
	struct cache *cache = new_cache_with(8 * MB, 2 * MB + MB / 2);
	struct cache_pin *first, *second;

	(void)state;
	use_up(cache, 1, MB);
	use(cache, 1, MB);
	use_up(cache, 2, MB);
	assert_true(there(cache, 2, MB)); /* by cache_peek */
	for (uint64_t key = 10; key < 20; key++)
		use_up(cache, key, MB);
	assert_true(cache_has(cache, 1));
	assert_true(cache_has(cache, 2));
	check(cache);
	/* of several pins, the last one says */
	first = get(cache, 1, MB);
	second = get(cache, 1, MB);
	cache_put_used(cache, second);
	cache_put(cache, first);
	first = get(cache, 2, MB);
	second = get(cache, 2, MB);
	cache_put(cache, second);
	cache_put_used(cache, first);
	check(cache);
	for (uint64_t key = 20; key < 30; key++)
		use_up(cache, key, MB);
	assert_true(cache_has(cache, 1));
	assert_false(cache_has(cache, 2));
	cache_free(cache);
}

static void test_it_counts(void **state)
{
	struct cache *cache = new_cache(MB);
	uint64_t hits = stats_get(COUNTER_cache_hits);
	uint64_t misses = stats_get(COUNTER_cache_misses);
	struct cache_pin *pin;

	(void)state;
	assert_int_equal(cache_peek(cache, 1, CACHE_FOREVER, &pin), 0);
	use(cache, 1, 64);
	assert_int_equal(stats_get(COUNTER_cache_hits), hits);
	assert_int_equal(stats_get(COUNTER_cache_misses), misses + 2);
	use(cache, 1, 64);
	assert_int_equal(cache_peek(cache, 1, CACHE_FOREVER, &pin), 1);
	cache_put(cache, pin);
	assert_true(cache_has(cache, 1));
	assert_int_equal(stats_get(COUNTER_cache_hits), hits + 2);
	assert_int_equal(stats_get(COUNTER_cache_misses), misses + 2);
	assert_int_equal(stats_get(COUNTER_cache_bytes), cache_bytes(cache));
	cache_free(cache);
}

/* A dropped chunk is made anew; a holder keeps the old one until the end. */
static void test_what_is_dropped_is_made_anew(void **state)
{
	struct cache *cache = new_cache(MB);
	struct maker maker = { .key = 5, .result = 4096 };
	struct cache_pin *first, *second;

	(void)state;
	cache_drop(cache, 5); /* nothing is there */
	assert_int_equal(cache_get(cache, 5, 4096, make, &maker, &first), 0);
	cache_put(cache, first);
	cache_drop(cache, 5);
	check(cache);
	assert_false(cache_has(cache, 5));
	assert_int_equal(cache_bytes(cache), 0);
	assert_int_equal(cache_get(cache, 5, 4096, make, &maker, &first), 0);
	cache_drop(cache, 5);
	cache_drop(cache, 5);
	assert_null(cache_check(cache, false));
	assert_int_equal(cache_size(first), 4096);
	assert_int_equal(cache_get(cache, 5, 4096, make, &maker, &second), 0);
	assert_ptr_not_equal(cache_data(first), cache_data(second));
	assert_int_equal(maker.fills, 3);
	cache_put(cache, second);
	cache_put(cache, first);
	check(cache);
	assert_true(cache_has(cache, 5));
	cache_free(cache);
}

/* A chunk that was read almost to its end is used up, and no other is. */
static void test_what_has_been_read_is_used(void **state)
{
	const struct cache_limits limits = { 8 * MB, 0 };
	struct cache *cache = cache_new(&limits);

	(void)state;
	use(cache, 1, MB);
	cache_put_read(cache, get(cache, 1, MB), MB / 2, false);
	assert_true(cache_has(cache, 1));
	cache_put_read(cache, get(cache, 1, MB), 0, false);
	assert_true(cache_has(cache, 1));
	cache_put_read(cache, get(cache, 1, MB), MB / 2 - 1, false);
	assert_false(cache_has(cache, 1)); /* of the used ones none are kept here */
	check(cache);
	cache_free(cache);
}

/* Of what all has been read nothing is kept, once nobody holds it. */
static void test_what_has_all_been_read_is_gone(void **state)
{
	const struct cache_limits limits = { 8 * MB, 4 * MB };
	struct cache *cache = cache_new(&limits);
	struct cache_pin *first, *second;

	(void)state;
	first = get(cache, 1, MB);
	second = get(cache, 1, MB);
	cache_put_read(cache, first, MB, false);
	assert_true(cache_has(cache, 1));
	cache_put_read(cache, second, 1, false);
	assert_false(cache_has(cache, 1));
	check(cache);
	first = get(cache, 1, MB);
	cache_drop(cache, 1);
	cache_put_read(cache, first, MB, false); /* it had left the table already */
	use(cache, 2, MB);
	cache_put_read(cache, get(cache, 2, MB), 0, false);
	assert_true(cache_has(cache, 2));
	check(cache);
	cache_free(cache);
}

/* A chunk that is made from another one. */
static ssize_t make_from_another(void *context, void *buffer, size_t room)
{
	struct cache_pin *pin = get(context, 1, 64);

	(void)room;
	memcpy(buffer, cache_data(pin), 8);
	cache_put(context, pin);
	return 8;
}

static void test_a_fill_may_ask_for_another_chunk(void **state)
{
	struct cache *cache = new_cache(MB);
	struct cache_pin *pin;

	(void)state;
	assert_int_equal(cache_get(cache, 2, 64, make_from_another, cache, &pin), 0);
	assert_memory_equal(cache_data(pin), &(uint64_t){ 1 }, 8);
	cache_put(cache, pin);
	cache_free(cache);
}

static int use_what_is_no_cache(void *argument)
{
	static alignas(64) char zeros[64 * 1024];

	(void)argument;
	return cache_has((struct cache *)(void *)zeros, 1);
}

static void test_a_handle_is_known(void **state)
{
	(void)state;
	assert_int_equal(unit_child(use_what_is_no_cache, NULL), 256 + SIGABRT);
}

static int make_key(void *number)
{
	cache_key(CACHE_CHUNK, *(const uint64_t *)number);
	return 0;
}

static void test_kinds_share_no_key(void **state)
{
	uint64_t most = CACHE_NUMBERS - 1, too_many = CACHE_NUMBERS;

	(void)state;
	for (int kind = CACHE_CHUNK; kind + 1 < CACHE_KINDS; kind++)
		assert_true(cache_key((enum cache_kind)kind, most) <
			    cache_key((enum cache_kind)(kind + 1), 0));
	assert_int_equal(unit_child(make_key, &most), 0);
	assert_int_equal(unit_child(make_key, &too_many), 256 + SIGABRT);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_chunk_is_made_once),
	cmocka_unit_test(test_an_error_is_not_remembered),
	cmocka_unit_test(test_the_one_unused_for_longest_goes_first),
	cmocka_unit_test(test_what_is_held_stays),
	cmocka_unit_test(test_a_chunk_larger_than_the_budget),
	cmocka_unit_test(test_the_budget_is_that_of_all_chunks),
	cmocka_unit_test(test_the_budget_is_used_and_kept),
	cmocka_unit_test(test_more_chunks_than_buckets),
	cmocka_unit_test(test_what_is_held_and_made_counts),
	cmocka_unit_test(test_room_is_made_before_a_chunk),
	cmocka_unit_test(test_the_budget_changes_at_once),
	cmocka_unit_test(test_of_the_used_ones_a_few_are_kept),
	cmocka_unit_test(test_the_used_ones_go_first),
	cmocka_unit_test(test_what_is_asked_for_again_is_no_longer_used),
	cmocka_unit_test(test_it_counts),
	cmocka_unit_test(test_what_is_dropped_is_made_anew),
	cmocka_unit_test(test_what_has_been_read_is_used),
	cmocka_unit_test(test_what_has_all_been_read_is_gone),
	cmocka_unit_test(test_a_fill_may_ask_for_another_chunk),
	cmocka_unit_test(test_a_handle_is_known),
	cmocka_unit_test(test_kinds_share_no_key),
};

UNIT_MAIN_IN(tests, NULL, NULL)
