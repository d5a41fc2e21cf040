/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything at random: gets that fail, looks, both ways of giving back, new budgets.
 * One thread checks the invariants after each step; many are checked while they run.
 * Every byte of every chunk is compared.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache/cache_check.h"
#include "stats/stats.h"

enum { MB = 1 << 20, KEYS = 400, HELD = 6, THREADS = 8 };

/* Shared by all threads. */
struct storm {
	struct cache *cache;
	_Atomic unsigned wrong, loads, failed, peeked;
	_Atomic bool loading[KEYS];
	_Atomic bool over;
	const char *broken;
};

/* One thread: what it holds. */
struct actor {
	struct storm *storm;
	uint64_t random;
	struct cache_pin *pins[HELD];
	uint64_t keys[HELD];
	unsigned steps;
};

struct order {
	struct storm *storm;
	uint64_t key;
	bool fails, dawdles;
};

static uint64_t next_random(struct actor *actor)
{
	actor->random = actor->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return actor->random >> 33;
}

/* Small ones, ones that memory is kept for, mapped ones, and a few that are large. */
static size_t room_of(uint64_t key)
{
	static const size_t rooms[] = { 24, 1000, 30000, 70000, 128 << 10, 600 << 10 };

	return key % 97 == 0 ? 3 * MB : rooms[key % COUNT(rooms)] + key / COUNT(rooms) % 3 * 8;
}

static size_t size_of(uint64_t key)
{
	return room_of(key) / 8 * 8 - (key % 5 == 0 ? 8 : 0);
}

static uint64_t word(uint64_t key, size_t i)
{
	return (key + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static ssize_t make(void *context, void *buffer, size_t room)
{
	struct order *order = context;
	uint64_t *words = buffer;
	size_t size = size_of(order->key);

	atomic_fetch_add(&order->storm->wrong,
			 atomic_exchange(&order->storm->loading[order->key], true) ||
			 room != room_of(order->key));
	atomic_fetch_add(&order->storm->loads, 1);
	for (size_t i = 0; i < size / 8; i++)
		words[i] = word(order->key, i);
	if (order->dawdles)
		usleep(200);
	atomic_store(&order->storm->loading[order->key], false);
	return order->fails ? -EIO : (ssize_t)size;
}

static bool is_right(const struct cache_pin *pin, uint64_t key)
{
	const uint64_t *words = cache_data(pin);
	size_t size = cache_size(pin);

	for (size_t i = 0; i < size / 8; i++)
		if (words[i] != word(key, i))
			return false;
	return size == size_of(key);
}

static void give_back(struct actor *actor, size_t i)
{
	struct storm *storm = actor->storm;

	if (!actor->pins[i])
		return;
	atomic_fetch_add(&storm->wrong, !is_right(actor->pins[i], actor->keys[i]));
	if (next_random(actor) % 3 == 0)
		cache_put_used(storm->cache, actor->pins[i]);
	else
		cache_put(storm->cache, actor->pins[i]);
	actor->pins[i] = NULL;
}

static void get_one(struct actor *actor, size_t i, uint64_t key)
{
	struct storm *storm = actor->storm;
	struct order order = { storm, key, next_random(actor) % 20 == 0,
			       next_random(actor) % 50 == 0 };
	int err = cache_get(storm->cache, key, room_of(key), make, &order, &actor->pins[i]);

	atomic_fetch_add(&storm->wrong, err != 0 && err != -EIO);
	atomic_fetch_add(&storm->failed, err != 0);
	if (err)
		actor->pins[i] = NULL;
}

static void change_budget(struct actor *actor)
{
	static const uint64_t budgets[] = { 0, 100000, MB, 8 * MB, 24 * MB, 200 * MB };

	cache_set_budget(actor->storm->cache, budgets[next_random(actor) % COUNT(budgets)]);
}

static void step(struct actor *actor)
{
	struct storm *storm = actor->storm;
	size_t i = next_random(actor) % HELD;
	uint64_t key = next_random(actor) % KEYS;

	give_back(actor, i);
	actor->keys[i] = key;
	switch (next_random(actor) % 16) {
	case 0:
		if (next_random(actor) % 8 == 0)
			change_budget(actor);
		break;
	case 1:
		cache_has(storm->cache, key);
		break;
	case 2:
	case 3:
	case 4:
		if (!cache_peek(storm->cache, key, CACHE_FOREVER, &actor->pins[i]))
			actor->pins[i] = NULL;
		else
			atomic_fetch_add(&storm->peeked, 1);
		break;
	default:
		get_one(actor, i, key);
	}
}

static void leave(struct actor *actor)
{
	for (size_t i = 0; i < HELD; i++)
		give_back(actor, i);
}

static void check(struct cache *cache)
{
	const char *wrong = cache_check(cache, true);

	if (wrong)
		fail_msg("%s", wrong);
	assert_int_equal(stats_get(COUNTER_cache_bytes), cache_bytes(cache));
}

static struct storm *storm_new(void)
{
	struct storm *storm = calloc(1, sizeof(*storm));

	storm->cache = cache_new(&(struct cache_limits){ 24 * MB, 3 * MB });
	assert_non_null(storm->cache);
	return storm;
}

static void storm_free(struct storm *storm)
{
	check(storm->cache);
	cache_set_budget(storm->cache, 0);
	assert_int_equal(cache_bytes(storm->cache), 0);
	cache_free(storm->cache);
	free(storm);
}

static void test_the_invariants_hold_after_each_step(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct storm *storm = storm_new();
		struct actor actor = { .storm = storm, .random = seed };

		for (unsigned i = 0; i < 500; i++) {
			step(&actor);
			check(storm->cache);
		}
		leave(&actor);
		assert_int_equal(storm->wrong, 0);
		assert_true(storm->failed > 0 && storm->peeked > 0);
		storm_free(storm);
	}
}

static void *act(void *argument)
{
	struct actor *actor = argument;

	for (unsigned i = 0; i < actor->steps; i++)
		step(actor);
	leave(actor);
	return NULL;
}

static void *watch(void *argument)
{
	struct storm *storm = argument;

	while (!atomic_load(&storm->over) && !storm->broken) {
		storm->broken = cache_check(storm->cache, false);
		usleep(10000);
	}
	return NULL;
}

static void run_storm(struct storm *storm, unsigned steps)
{
	struct actor actors[THREADS];
	pthread_t threads[THREADS], watcher;

	assert_int_equal(pthread_create(&watcher, NULL, watch, storm), 0);
	for (size_t i = 0; i < THREADS; i++) {
		actors[i] = (struct actor){ .storm = storm, .random = 1000 + i, .steps = steps };
		assert_int_equal(pthread_create(&threads[i], NULL, act, &actors[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&storm->over, true);
	pthread_join(watcher, NULL);
}

static void test_many_threads(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		struct storm *storm = storm_new();

		run_storm(storm, 2000);
		assert_int_equal(storm->wrong, 0);
		if (storm->broken)
			fail_msg("%s", storm->broken);
		assert_true(storm->failed > 0 && storm->peeked > 0 && storm->loads > KEYS);
		storm_free(storm);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_invariants_hold_after_each_step),
	cmocka_unit_test(test_many_threads),
};

UNIT_MAIN_IN(tests, NULL, NULL)
