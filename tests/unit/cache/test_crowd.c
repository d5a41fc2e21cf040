/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that ask for the same chunks at the same time. */
#include "cache/cache_kit.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8 };

static void run_threads(void *(*run)(void *), void *argument)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run, argument), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Threads that ask for one chunk, whose making ends when all have come. */
struct crowd {
	struct cache *cache;
	ssize_t result;
	_Atomic unsigned come, fills, wrong;
};

static ssize_t make_slowly(void *context, void *buffer, size_t room)
{
	struct crowd *crowd = context;

	atomic_fetch_add(&crowd->fills, 1);
	while (atomic_load(&crowd->come) < THREADS)
		usleep(1000);
	usleep(50000); /* from having come to waiting */
	if (!cache_has(crowd->cache, 3))
		atomic_fetch_add(&crowd->wrong, 1);
	memset(buffer, 0xab, room);
	return crowd->result;
}

/* Half of them only look, once somebody makes it. */
static int ask(struct crowd *crowd, unsigned number, struct cache_pin **pin)
{
	if (number % 2 == 0)
		return cache_get(crowd->cache, 3, 64, make_slowly, crowd, pin);
	while (atomic_load(&crowd->fills) == 0)
		usleep(1000);
	return cache_peek(crowd->cache, 3, CACHE_FOREVER, pin) ? 0 : (int)crowd->result;
}

static void *ask_in_a_crowd(void *argument)
{
	struct crowd *crowd = argument;
	struct cache_pin *pin = NULL;
	int err;

	err = ask(crowd, atomic_fetch_add(&crowd->come, 1), &pin);
	if (err != (crowd->result < 0 ? crowd->result : 0))
		atomic_fetch_add(&crowd->wrong, 1);
	if (err == 0) {
		const unsigned char *data = cache_data(pin);

		if (cache_size(pin) != 64 || data[0] != 0xab || data[63] != 0xab)
			atomic_fetch_add(&crowd->wrong, 1);
		cache_put(crowd->cache, pin);
	}
	return NULL;
}

static const ssize_t results[] = { 64, -EBADMSG };

static void test_who_asks_meanwhile_waits(void **state)
{
	size_t i = unit_row(state);
	struct crowd crowd = { .cache = new_cache(MB), .result = results[i] };

	run_threads(ask_in_a_crowd, &crowd);
	assert_int_equal(crowd.wrong, 0);
	assert_int_equal(crowd.fills, 1);
	assert_int_equal(cache_has(crowd.cache, 3), results[i] > 0);
	check(crowd.cache);
	cache_free(crowd.cache);
}

/* Threads that ask for the same chunks in the same order: they often meet. */
enum { RACES = 4000 };

struct race {
	struct cache *cache;
	_Atomic unsigned wrong;
	struct maker makers[RACES];
};

static void *race_thread(void *argument)
{
	struct race *race = argument;

	for (uint64_t key = 0; key < RACES; key++) {
		struct cache_pin *pin;
		int err = cache_get(race->cache, key, 4096, make, &race->makers[key],
				    &pin);

		atomic_fetch_add(&race->wrong, err != 0);
		if (err == 0)
			cache_put(race->cache, pin);
	}
	return NULL;
}

static void test_who_comes_second_makes_nothing(void **state)
{
	struct race *race = calloc(1, sizeof(*race));

	(void)state;
	race->cache = new_cache(64 * MB);
	for (uint64_t key = 0; key < RACES; key++) {
		race->makers[key].key = key;
		race->makers[key].result = 4096;
	}
	run_threads(race_thread, race);
	assert_int_equal(race->wrong, 0);
	for (uint64_t key = 0; key < RACES; key++)
		assert_int_equal(race->makers[key].fills, 1);
	cache_free(race->cache);
	free(race);
}

/* Threads that ask for anything, in more shards than one, for a while. */
enum { KEYS = 2000, HELD = 4, ROUNDS = 10000 };

struct storm {
	struct cache *cache;
	_Atomic unsigned seeds, wrong;
	_Atomic bool loading[KEYS];
};

struct order {
	struct storm *storm;
	uint64_t key;
	bool fails;
};

static size_t room_of(uint64_t key)
{
	return 16 * 1024 + key % 7 * 32 * 1024;
}

static bool holds(const struct cache_pin *pin, uint64_t key)
{
	const unsigned char *data = cache_data(pin);
	size_t n = cache_size(pin);

	return n == room_of(key) - key % 3 && memcmp(data, &key, sizeof(key)) == 0 &&
	       memcmp(data + n - sizeof(key), &key, sizeof(key)) == 0;
}

static ssize_t make_in_a_storm(void *context, void *buffer, size_t room)
{
	struct order *order = context;
	size_t n = room - order->key % 3;

	if (atomic_exchange(&order->storm->loading[order->key], true))
		atomic_fetch_add(&order->storm->wrong, 1);
	memcpy(buffer, &order->key, sizeof(order->key));
	memcpy((char *)buffer + n - sizeof(order->key), &order->key, sizeof(order->key));
	atomic_store(&order->storm->loading[order->key], false);
	return order->fails ? -EIO : (ssize_t)n;
}

static uint32_t next_random(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

static void *storm_thread(void *argument)
{
	struct storm *storm = argument;
	struct cache_pin *pins[HELD] = { NULL };
	uint64_t keys[HELD] = { 0 };
	uint32_t random = atomic_fetch_add(&storm->seeds, 1) * 7919 + 1;

	for (size_t i = 0; i < ROUNDS; i++) {
		struct order order = { .storm = storm, .key = next_random(&random) % KEYS };
		size_t k = i % HELD;
		int err;

		order.fails = next_random(&random) % 50 == 0;
		if (next_random(&random) % 50 == 0)
			cache_drop(storm->cache, next_random(&random) % KEYS);
		if (pins[k]) {
			atomic_fetch_add(&storm->wrong, !holds(pins[k], keys[k]));
			cache_put(storm->cache, pins[k]);
		}
		pins[k] = NULL;
		keys[k] = order.key;
		err = cache_get(storm->cache, order.key, room_of(order.key),
				make_in_a_storm, &order, &pins[k]);
		atomic_fetch_add(&storm->wrong, err != 0 && err != -EIO);
	}
	for (size_t k = 0; k < HELD; k++)
		if (pins[k])
			cache_put(storm->cache, pins[k]);
	return NULL;
}

static void test_many_threads(void **state)
{
	static const uint64_t budgets[] = { 0, 3 * MB, 64 * MB };

	(void)state;
	for (size_t i = 0; i < COUNT(budgets); i++) {
		struct storm *storm = calloc(1, sizeof(*storm));
		uint64_t kept = 0;

		storm->cache = new_cache(budgets[i]);
		run_threads(storm_thread, storm);
		assert_int_equal(storm->wrong, 0);
		check(storm->cache);
		for (uint64_t key = 0; key < KEYS; key++)
			if (there(storm->cache, key, room_of(key)))
				kept += room_of(key);
		assert_true(kept <= budgets[i] || budgets[i] == 0);
		assert_true(kept >= budgets[i] / 2);
		cache_free(storm->cache);
		free(storm);
	}
}

/* While a chunk is being made by a thread that hangs: nobody waits for it for long. */
static ssize_t hang(void *context, void *buffer, size_t room)
{
	_Atomic bool *go_on = context;

	while (!atomic_load(go_on))
		usleep(1000);
	memset(buffer, 7, room);
	return (ssize_t)room;
}

struct hanging {
	struct cache *cache;
	_Atomic bool go_on;
};

static void *hang_thread(void *argument)
{
	struct hanging *h = argument;
	struct cache_pin *pin;

	if (cache_get(h->cache, 1, 64, hang, &h->go_on, &pin) == 0)
		cache_put(h->cache, pin);
	return NULL;
}

static void test_who_waits_for_long_gives_up(void **state)
{
	struct hanging h = { .cache = new_cache(MB) };
	struct cache_pin *pin;
	struct timespec before, after;
	pthread_t thread;

	(void)state;
	assert_int_equal(cache_peek(h.cache, 1, 50, &pin), 0);
	assert_int_equal(pthread_create(&thread, NULL, hang_thread, &h), 0);
	while (!cache_has(h.cache, 1))
		usleep(1000);
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(cache_peek(h.cache, 1, 50, &pin), 0);
		assert_int_equal(cache_get_within(h.cache, 1, 64, 50, hang, &h.go_on, &pin),
				 -ETIMEDOUT);
	}
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(after.tv_sec - before.tv_sec < 3); /* only one has waited */
	assert_null(cache_check(h.cache, false));
	atomic_store(&h.go_on, true);
	pthread_join(thread, NULL);
	assert_int_equal(cache_peek(h.cache, 1, 0, &pin), 1);
	assert_int_equal(*(const char *)cache_data(pin), 7);
	cache_put(h.cache, pin);
	check(h.cache);
	cache_free(h.cache);
}

static const struct CMUnitTest tests[] = {
	unit_rows(test_who_asks_meanwhile_waits, results),
	cmocka_unit_test(test_who_comes_second_makes_nothing),
	cmocka_unit_test(test_many_threads),
	cmocka_unit_test(test_who_waits_for_long_gives_up),
};

UNIT_MAIN_IN(tests, NULL, NULL)
