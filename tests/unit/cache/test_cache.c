/* Chunks in memory: made once, held, dropped in order, by many threads. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache/cache.h"

enum { MB = 1 << 20 };

/* What a test's fill does, and how often it did. */
struct maker {
	uint64_t key;
	ssize_t result; /* bytes to claim, or an error */
	_Atomic unsigned fills;
};

static ssize_t make(void *context, void *buffer, size_t room)
{
	struct maker *maker = context;

	atomic_fetch_add(&maker->fills, 1);
	if (maker->result >= (ssize_t)sizeof(maker->key) && room >= sizeof(maker->key))
		memcpy(buffer, &maker->key, sizeof(maker->key));
	return maker->result;
}

static struct cache_pin *get(struct cache *cache, uint64_t key, size_t room)
{
	struct maker maker = { .key = key, .result = (ssize_t)room };
	struct cache_pin *pin = NULL;

	assert_int_equal(cache_get(cache, key, room, make, &maker, &pin), 0);
	assert_int_equal(cache_size(pin), room);
	assert_memory_equal(cache_data(pin), &key, sizeof(key));
	return pin;
}

static void use(struct cache *cache, uint64_t key, size_t room)
{
	cache_put(cache, get(cache, key, room));
}

/* Is it there? This asks for it, so it is then the newest. */
static bool there(struct cache *cache, uint64_t key, size_t room)
{
	struct maker maker = { .key = key, .result = -ENOENT };
	struct cache_pin *pin;
	int err = cache_get(cache, key, room, make, &maker, &pin);

	assert_int_equal(err, maker.fills ? -ENOENT : 0);
	if (err)
		return false;
	cache_put(cache, pin);
	return true;
}

static struct cache *new_cache(uint64_t budget)
{
	struct cache *cache = cache_new(budget);

	assert_non_null(cache);
	return cache;
}

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
	cache_put(cache, second);
	assert_true(there(cache, 7, 4096));
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
	memset(buffer, 0xab, room);
	return crowd->result;
}

static void *ask_in_a_crowd(void *argument)
{
	struct crowd *crowd = argument;
	struct cache_pin *pin = NULL;
	int err;

	atomic_fetch_add(&crowd->come, 1);
	err = cache_get(crowd->cache, 3, 64, make_slowly, crowd, &pin);
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

static void test_who_asks_meanwhile_waits(void **state)
{
	static const ssize_t results[] = { 64, -EBADMSG };

	(void)state;
	for (size_t i = 0; i < COUNT(results); i++) {
		struct crowd crowd = { .cache = new_cache(MB), .result = results[i] };

		run_threads(ask_in_a_crowd, &crowd);
		assert_int_equal(crowd.wrong, 0);
		assert_int_equal(crowd.fills, 1);
		assert_int_equal(there(crowd.cache, 3, 64), results[i] > 0);
		cache_free(crowd.cache);
	}
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
		for (uint64_t key = 0; key < KEYS; key++)
			if (there(storm->cache, key, room_of(key)))
				kept += room_of(key);
		assert_true(kept <= budgets[i] || budgets[i] == 0);
		assert_true(kept >= budgets[i] / 2);
		cache_free(storm->cache);
		free(storm);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_chunk_is_made_once),
		cmocka_unit_test(test_an_error_is_not_remembered),
		cmocka_unit_test(test_the_one_unused_for_longest_goes_first),
		cmocka_unit_test(test_what_is_held_stays),
		cmocka_unit_test(test_a_chunk_larger_than_the_budget),
		cmocka_unit_test(test_the_budget_is_that_of_all_chunks),
		cmocka_unit_test(test_the_budget_is_used_and_kept),
		cmocka_unit_test(test_more_chunks_than_buckets),
		cmocka_unit_test(test_who_asks_meanwhile_waits),
		cmocka_unit_test(test_who_comes_second_makes_nothing),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_a_fill_may_ask_for_another_chunk),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
