/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cache.c: the operations on a cache, by the rules of state.h. */
#include "cache/cache.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "cache/state.h"
#include "stats/stats.h"

enum {
	BUCKET_FOR = 64 << 10,  /* of the budget: the size of a usual chunk */
	BUCKETS_LEAST = 4096,   /* a shard: the budget may grow */
	BUCKETS_MOST = 1 << 16,
};

/* Making and freeing. */

/* The largest power of two up to `value`, but from `least` to `most`. */
static size_t power_of_two(uint64_t value, size_t least, size_t most)
{
	size_t power = least;

	while (power < most && power * 2 <= value)
		power *= 2;
	return power;
}

static int shard_init(struct shard *shard, size_t buckets)
{
	shard->buckets = calloc(buckets, sizeof(*shard->buckets));
	shard->lock = (struct lock)LOCK_INIT;
	shard->loaded = (struct wakeup)WAKEUP_INIT;
	for (int list = 0; list < CHUNK_LISTS; list++) {
		struct link *ring = &shard->idle[list];

		*ring = (struct link){ ring, ring };
		atomic_init(&shard->oldest[list], CACHE_NONE);
	}
	return shard->buckets ? 0 : -ENOMEM;
}

struct cache *cache_new(const struct cache_limits *limits)
{
	struct cache *cache = aligned_alloc(CACHE_LINE, sizeof(*cache));
	int err = 0;

	if (!cache)
		return NULL;
	*cache = (struct cache){ .magic = HANDLE_CACHE, .budget = limits->budget, .used_most = limits->used };
	cache->bucket_count = power_of_two(limits->budget / CACHE_SHARDS / BUCKET_FOR,
					   BUCKETS_LEAST, BUCKETS_MOST);
	slab_init(&cache->slab, cache_spare(limits->budget));
	for (unsigned i = 0; i < CACHE_SHARDS; i++)
		err |= shard_init(&cache->shards[i], cache->bucket_count);
	stats_set(COUNTER_cache_bytes, 0);
	if (err == 0)
		return cache;
	cache_free(cache);
	return NULL;
}

uint64_t cache_bytes(const struct cache *cache)
{
	HANDLE_CHECK(cache, HANDLE_CACHE);
	return atomic_load(&cache->held) + slab_bytes(&cache->slab);
}

/* Of two threads that set the gauge at once, neither may leave the older value. */
static void show_bytes(const struct cache *cache)
{
	uint64_t bytes;

	do {
		bytes = cache_bytes(cache);
		stats_set(COUNTER_cache_bytes, bytes);
	} while (bytes != cache_bytes(cache));
}

static struct cache_pin *chunk_new(struct cache *cache, struct cache_id id,
				   size_t room)
{
	struct cache_pin *chunk = malloc(sizeof(*chunk));

	if (!chunk)
		return NULL;
	*chunk = (struct cache_pin){ .id = id, .room = room, .pins = 1,
				     .data = slab_acquire(&cache->slab, room) };
	if (chunk->data)
		return chunk;
	free(chunk);
	return NULL;
}

/* The chunk is no longer counted. */
static void chunk_free(struct cache *cache, struct cache_pin *chunk)
{
	slab_release(&cache->slab, chunk->data, chunk->room);
	free(chunk);
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	HANDLE_CHECK(cache, HANDLE_CACHE);
	for (unsigned i = 0; i < CACHE_SHARDS * CHUNK_LISTS; i++) {
		struct link *ring = &cache->shards[i / CHUNK_LISTS].idle[i % CHUNK_LISTS];

		for (struct link *link = ring->after, *after; link != ring; link = after) {
			after = link->after;
			chunk_free(cache, chunk_of(link));
		}
	}
	for (unsigned i = 0; i < CACHE_SHARDS; i++)
		free(cache->shards[i].buckets);
	slab_free(&cache->slab);
	cache->magic = HANDLE_DEAD;
	free(cache);
}

/* Tables and lists: all under the lock of the chunk's shard. */

/* The link to the chunk in its table: *result is the chunk, or NULL. */
static struct cache_pin **cache_find(const struct cache *cache, const struct shard *shard,
				     struct cache_id id)
{
	struct cache_pin **at = cache_bucket(cache, shard, id);

	while (*at && (*at)->id.key != id.key)
		at = &(*at)->next;
	return at;
}

static void show_oldest(struct shard *shard, enum chunk_list list)
{
	struct link *oldest = shard->idle[list].before;

	atomic_store(&shard->oldest[list], oldest == &shard->idle[list] ?
					   CACHE_NONE : chunk_of(oldest)->number);
}

static void idle_add(struct cache *cache, struct shard *shard, struct cache_pin *chunk)
{
	struct link *ring = &shard->idle[chunk->list];

	chunk->number = atomic_fetch_add(&cache->next_number, 1);
	chunk->idle = (struct link){ ring, ring->after };
	ring->after->before = &chunk->idle;
	ring->after = &chunk->idle;
	if (chunk->list == USED)
		atomic_fetch_add(&cache->used, cache_weight(chunk));
	show_oldest(shard, chunk->list);
}

static void idle_remove(struct cache *cache, struct shard *shard, struct cache_pin *chunk)
{
	chunk->idle.before->after = chunk->idle.after;
	chunk->idle.after->before = chunk->idle.before;
	if (chunk->list == USED)
		atomic_fetch_sub(&cache->used, cache_weight(chunk));
	show_oldest(shard, chunk->list);
}

/* Staying within the limits. */

static bool cache_is_over(const struct cache *cache, enum chunk_list list)
{
	return atomic_load(&cache->held) > cache_room(cache) ||
	       (list == USED && atomic_load(&cache->used) > cache->used_most);
}

/* The shard with the oldest idle chunk of all, if that is older than `end`. */
static struct shard *oldest_shard(struct cache *cache, enum chunk_list list, uint64_t end)
{
	struct shard *found = NULL;

	for (unsigned i = 0; i < CACHE_SHARDS; i++) {
		uint64_t number = atomic_load(&cache->shards[i].oldest[list]);

		if (number < end) {
			end = number;
			found = &cache->shards[i];
		}
	}
	return found;
}

/* Removes the shard's oldest chunk from the cache; NULL: another thread was faster. */
static struct cache_pin *evict_oldest(struct cache *cache, struct shard *shard,
				      enum chunk_list list, uint64_t end)
{
	struct cache_pin *chunk;

	LOCK_GUARD(&shard->lock);
	chunk = chunk_of(shard->idle[list].before);
	if (&chunk->idle == &shard->idle[list] || chunk->number >= end ||
	    !cache_is_over(cache, list))
		return NULL;
	idle_remove(cache, shard, chunk);
	*cache_find(cache, shard, chunk->id) = chunk->next;
	atomic_fetch_sub(&cache->held, cache_weight(chunk));
	return chunk;
}

/* Drops idle chunks that became so before `end`, until the rest fits. */
static void drop_excess(struct cache *cache, uint64_t end)
{
	static const enum chunk_list order[] = { USED, ORDINARY };
	struct shard *shard;
	bool dropped = false;

	for (unsigned i = 0; i < CHUNK_LISTS; i++) {
		while (cache_is_over(cache, order[i]) &&
		       (shard = oldest_shard(cache, order[i], end))) {
			struct cache_pin *chunk = evict_oldest(cache, shard, order[i],
							       end);

			if (!chunk)
				continue;
			chunk_free(cache, chunk);
			dropped = true;
		}
	}
	if (dropped)
		show_bytes(cache);
}

void cache_set_budget(struct cache *cache, uint64_t budget)
{
	HANDLE_CHECK(cache, HANDLE_CACHE);
	atomic_store(&cache->budget, budget);
	drop_excess(cache, CACHE_NONE);
	slab_limit(&cache->slab, cache_spare(budget));
	show_bytes(cache);
}

/* Getting. */

/* Is the chunk, which this thread has pinned, made in time? Under the lock. */
static bool is_made_within(struct shard *shard, struct cache_pin *chunk,
			   unsigned milliseconds)
{
	while (chunk->state == LOADING && milliseconds == CACHE_FOREVER)
		wakeup_wait(&shard->loaded, &shard->lock);
	while (chunk->state == LOADING && !chunk->late)
		chunk->late = !wakeup_wait_for(&shard->loaded, &shard->lock,
					       milliseconds) &&
			      chunk->state == LOADING;
	return chunk->state != LOADING;
}

/*
 * Pins the chunk of `key`: the present one, or else `spare` (if not NULL), which then
 * enters the table as LOADING: 1, or 0: neither. -ETIMEDOUT: another thread is making it.
 */
static int pin(struct cache *cache, struct cache_id id, struct cache_pin *spare,
	       unsigned milliseconds, struct cache_pin **out)
{
	struct shard *shard = cache_shard(cache, id);
	struct cache_pin **at, *chunk;

	LOCK_GUARD(&shard->lock);
	at = cache_find(cache, shard, id);
	chunk = *at;
	*out = chunk;
	if (!chunk) {
		*out = *at = spare;
		return spare != NULL;
	}
	if (chunk->pins++ == 0)
		idle_remove(cache, shard, chunk);
	if (is_made_within(shard, chunk, milliseconds))
		return 1;
	chunk->pins--; /* the thread that makes the chunk has one */
	return -ETIMEDOUT;
}

static void cache_load(struct cache *cache, struct cache_pin *chunk, cache_fill *fill,
		       void *context)
{
	struct shard *shard = cache_shard(cache, chunk->id);

	chunk->size = fill(context, chunk->data, chunk->room);
	INVARIANT(chunk->size < 0 || (size_t)chunk->size <= chunk->room);
	LOCK_GUARD(&shard->lock);
	chunk->state = chunk->size < 0 ? FAILED : READY;
	if (chunk->state == FAILED)
		*cache_find(cache, shard, chunk->id) = chunk->next;
	wakeup_all(&shard->loaded);
}

/* For a chunk that is not in the table, or no longer. */
static void discard(struct cache *cache, struct cache_pin *chunk)
{
	atomic_fetch_sub(&cache->held, cache_weight(chunk));
	chunk_free(cache, chunk);
	show_bytes(cache);
}

/* Makes the chunk, or waits for the thread that does: 0, -ENOMEM or -ETIMEDOUT. */
static int cache_make(struct cache *cache, struct cache_id id, size_t room,
		      unsigned milliseconds, cache_fill *fill, void *context,
		      struct cache_pin **out)
{
	uint64_t weight = sizeof(struct cache_pin) + slab_weight(room);
	struct cache_pin *spare;
	int err;

	if (room > SSIZE_MAX / 2)
		return -ENOMEM;
	/* room first, then the chunk: it often gets the memory that was just freed */
	atomic_fetch_add(&cache->held, weight);
	drop_excess(cache, CACHE_NONE);
	spare = chunk_new(cache, id, room);
	if (!spare) {
		atomic_fetch_sub(&cache->held, weight);
		return -ENOMEM;
	}
	show_bytes(cache);
	err = pin(cache, id, spare, milliseconds, out);
	if (err > 0 && *out == spare) {
		cache_load(cache, spare, fill, context);
		stats_add(COUNTER_cache_misses, 1);
		return 0;
	}
	discard(cache, spare);
	stats_add(COUNTER_cache_hits, 1);
	return err < 0 ? err : 0;
}

int cache_get_within(struct cache *cache, uint64_t key, size_t room, unsigned milliseconds,
		     cache_fill *fill, void *context, struct cache_pin **out)
{
	struct cache_id id = cache_id(key);
	struct cache_pin *chunk;
	int err;

	HANDLE_CHECK(cache, HANDLE_CACHE);
	err = pin(cache, id, NULL, milliseconds, &chunk);
	if (err > 0)
		stats_add(COUNTER_cache_hits, 1);
	else if (err == 0)
		err = cache_make(cache, id, room, milliseconds, fill, context, &chunk);
	if (err < 0)
		return err;
	if (chunk->size >= 0) {
		*out = chunk;
		return 0;
	}
	err = (int)chunk->size;
	cache_put(cache, chunk);
	return err;
}

int cache_get(struct cache *cache, uint64_t key, size_t room, cache_fill *fill,
	      void *context, struct cache_pin **out)
{
	HANDLE_CHECK(cache, HANDLE_CACHE);
	return cache_get_within(cache, key, room, CACHE_FOREVER, fill, context, out);
}

int cache_peek(struct cache *cache, uint64_t key, unsigned milliseconds,
	       struct cache_pin **out)
{
	struct cache_pin *chunk;
	bool pinned, ready;

	HANDLE_CHECK(cache, HANDLE_CACHE);
	pinned = pin(cache, cache_id(key), NULL, milliseconds, &chunk) > 0;
	ready = pinned && chunk->size >= 0;
	stats_add(ready ? COUNTER_cache_hits : COUNTER_cache_misses, 1);
	if (ready)
		*out = chunk;
	else if (pinned)
		cache_put(cache, chunk);
	return ready;
}

bool cache_has(struct cache *cache, uint64_t key)
{
	struct cache_id id = cache_id(key);
	struct shard *shard = cache_shard(cache, id);

	HANDLE_CHECK(cache, HANDLE_CACHE);
	LOCK_GUARD(&shard->lock);
	return *cache_find(cache, shard, id);
}

void cache_drop(struct cache *cache, uint64_t key)
{
	struct cache_id id = cache_id(key);
	struct shard *shard = cache_shard(cache, id);
	struct cache_pin **at, *chunk;
	bool held;

	HANDLE_CHECK(cache, HANDLE_CACHE);
	{
		LOCK_GUARD(&shard->lock);
		at = cache_find(cache, shard, id);
		chunk = *at;
		if (!chunk || chunk->state != READY)
			return;
		*at = chunk->next;
		held = chunk->pins > 0;
		if (held)
			chunk->state = FAILED;
		else
			idle_remove(cache, shard, chunk);
	}
	if (!held)
		discard(cache, chunk);
}

/* Giving back. */

enum left { HELD, IDLE, GONE };

/* In the place of a list: the one before; none, for all of the chunk was read. */
enum { AS_BEFORE = CHUNK_LISTS, AS_READ };

/* Gives up a pin: what the chunk is then; `number` if it is idle. */
static enum left unpin(struct cache *cache, struct cache_pin *chunk, int list,
		       uint64_t *number)
{
	struct shard *shard = cache_shard(cache, chunk->id);

	LOCK_GUARD(&shard->lock);
	INVARIANT(chunk->pins > 0);
	if (list < CHUNK_LISTS)
		chunk->list = (enum chunk_list)list;
	if (--chunk->pins > 0)
		return HELD;
	if (list == AS_READ && chunk->state == READY) {
		*cache_find(cache, shard, chunk->id) = chunk->next;
		chunk->state = FAILED;
	}
	if (chunk->state == FAILED)
		return GONE;
	idle_add(cache, shard, chunk);
	*number = chunk->number;
	return IDLE;
}

static void put(struct cache *cache, struct cache_pin *chunk, int list)
{
	uint64_t weight = cache_weight(chunk); /* an idle chunk may go at any time */
	uint64_t number = CACHE_NONE;

	switch (unpin(cache, chunk, list, &number)) {
	case GONE:
		discard(cache, chunk);
		break;
	case IDLE:
		/* a chunk that never fits stays until the next one */
		if (list != ORDINARY || weight <= cache_room(cache))
			number = CACHE_NONE;
		drop_excess(cache, number);
		break;
	case HELD:
		break;
	}
}

void cache_put(struct cache *cache, struct cache_pin *chunk)
{
	HANDLE_CHECK(cache, HANDLE_CACHE);
	put(cache, chunk, ORDINARY);
}

void cache_put_used(struct cache *cache, struct cache_pin *chunk)
{
	HANDLE_CHECK(cache, HANDLE_CACHE);
	put(cache, chunk, USED);
}

/* Of headers and padding little is read: most of a chunk may be all that anybody reads. */
void cache_put_read(struct cache *cache, struct cache_pin *chunk, size_t n, bool used)
{
	size_t size = (size_t)chunk->size, spent = atomic_fetch_add(&chunk->spent, n) + n;

	HANDLE_CHECK(cache, HANDLE_CACHE);
	used |= spent > size - size / 64;
	put(cache, chunk, n && spent >= size ? AS_READ : used ? USED : AS_BEFORE);
}

const void *cache_data(const struct cache_pin *chunk)
{
	return chunk->data;
}

size_t cache_size(const struct cache_pin *chunk)
{
	return (size_t)chunk->size;
}
