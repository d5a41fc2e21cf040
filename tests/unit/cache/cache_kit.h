/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cache_kit.h: chunks that hold their key, and who asks for them. */
#ifndef GRANARY_TESTS_CACHE_KIT_H
#define GRANARY_TESTS_CACHE_KIT_H

#include "unit.h"

#include <stdatomic.h>

#include "cache/cache.h"
#include "cache/cache_check.h"
#include "stats/stats.h"

enum { MB = 1 << 20 };

/* The behaviour of a test's fill, and its number of calls. */
struct maker {
	uint64_t key;
	ssize_t result; /* bytes to claim, or an error */
	_Atomic unsigned fills;
};

static inline ssize_t make(void *context, void *buffer, size_t room)
{
	struct maker *maker = context;

	atomic_fetch_add(&maker->fills, 1);
	if (maker->result >= (ssize_t)sizeof(maker->key) && room >= sizeof(maker->key))
		memcpy(buffer, &maker->key, sizeof(maker->key));
	return maker->result;
}

static inline struct cache_pin *get(struct cache *cache, uint64_t key, size_t room)
{
	struct maker maker = { .key = key, .result = (ssize_t)room };
	struct cache_pin *pin = NULL;

	assert_int_equal(cache_get(cache, key, room, make, &maker, &pin), 0);
	assert_int_equal(cache_size(pin), room);
	assert_memory_equal(cache_data(pin), &key, sizeof(key));
	return pin;
}

static inline void use(struct cache *cache, uint64_t key, size_t room)
{
	cache_put(cache, get(cache, key, room));
}

/* Is it there, with its bytes? It is then the newest. */
static inline bool there(struct cache *cache, uint64_t key, size_t room)
{
	struct cache_pin *pin;
	bool has = cache_has(cache, key);

	assert_int_equal(cache_peek(cache, key, CACHE_FOREVER, &pin), has);
	if (!has)
		return false;
	assert_true(cache_size(pin) <= room);
	if (cache_size(pin) >= sizeof(key))
		assert_memory_equal(cache_data(pin), &key, sizeof(key));
	cache_put(cache, pin);
	return true;
}

static inline void check(struct cache *cache)
{
	const char *wrong = cache_check(cache, true);

	if (wrong)
		fail_msg("%s", wrong);
}

static inline struct cache *new_cache(uint64_t budget)
{
	struct cache *cache = cache_new(&(struct cache_limits){ budget, MB });

	assert_non_null(cache);
	return cache;
}

#endif
