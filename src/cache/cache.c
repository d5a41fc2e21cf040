/*
 * A chunk and what is known of it are one piece of memory. Chunks are spread over
 * shards by their keys; a shard has a lock, a table, and a list of the chunks that
 * nobody holds, in the order in which they were given back.
 *
 *	state     in the table   pins      in the list
 *	LOADING   yes            1 or more no
 *	READY     yes            1 or more no
 *	READY     yes            0         yes, and counted in cache->idle
 *	FAILED    no             1 or more no
 *
 * The budget is that of all shards together. A thread whose chunk goes over it
 * drops chunks of its own shard first and then of the others, one lock at a time:
 * with several shards "the longest time" is true of each, and nearly so of all. A
 * small budget has one shard, since a few chunks are not spread evenly.
 */
#include "cache/cache.h"

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/lock.h"

enum {
	SHARDS_MOST = 16,       /* shard_number takes four bits */
	SHARD_LEAST = 16 << 20, /* of the budget, before there is one more shard */
	BUCKET_FOR = 64 << 10,  /* of the budget: the size of a usual chunk */
	BUCKETS_LEAST = 64,     /* a shard */
	BUCKETS_MOST = 1 << 16,
	CACHE_LINE = 64,
};

/* A place in a ring of chunks; the ring's own is the one before the first. */
struct link {
	struct link *before, *after;
};

enum state { LOADING, READY, FAILED };

/* A chunk. A pin is a pointer to it that is counted. */
struct cache_pin {
	struct link idle; /* shard lock; first, so that a link is a chunk */
	struct cache_pin *next; /* shard lock: in the same bucket */
	uint64_t key;
	size_t room;
	unsigned pins;    /* shard lock */
	enum state state; /* shard lock */
	ssize_t size;     /* or the error; set by the thread that loads, then const */
	alignas(max_align_t) unsigned char data[];
};

struct shard {
	alignas(CACHE_LINE) struct lock lock;
	struct wakeup loaded;       /* a chunk is no longer LOADING */
	struct link idle;           /* lock: the one given back last comes first */
	struct cache_pin **buckets; /* lock */
};

struct cache {
	uint64_t budget;
	_Atomic uint64_t idle; /* bytes of the chunks in all lists */
	unsigned shard_count;  /* a power of two, like the next */
	size_t bucket_count;   /* a shard */
	struct shard shards[];
};

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
	shard->idle = (struct link){ &shard->idle, &shard->idle };
	return shard->buckets ? 0 : -ENOMEM;
}

struct cache *cache_new(uint64_t budget)
{
	unsigned count = (unsigned)power_of_two(budget / SHARD_LEAST, 1, SHARDS_MOST);
	size_t size = sizeof(struct cache) + count * sizeof(struct shard);
	struct cache *cache = aligned_alloc(CACHE_LINE, size);

	if (!cache)
		return NULL;
	*cache = (struct cache){ .budget = budget };
	cache->bucket_count = power_of_two(budget / count / BUCKET_FOR, BUCKETS_LEAST,
					   BUCKETS_MOST);
	while (cache->shard_count < count) {
		if (shard_init(&cache->shards[cache->shard_count++],
			       cache->bucket_count) < 0) {
			cache_free(cache);
			return NULL;
		}
	}
	return cache;
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	for (unsigned i = 0; i < cache->shard_count; i++) {
		struct shard *shard = &cache->shards[i];
		struct link *link = shard->idle.after;

		while (link != &shard->idle) {
			struct link *after = link->after;

			free(link);
			link = after;
		}
		free(shard->buckets);
	}
	free(cache);
}

/* Keys are numbers in order, or every n-th of them: spreads either evenly. */
static uint64_t mix(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
}

static size_t shard_number(const struct cache *cache, uint64_t key)
{
	return mix(key) >> 60 & (cache->shard_count - 1);
}

static struct shard *shard_of(struct cache *cache, uint64_t key)
{
	return &cache->shards[shard_number(cache, key)];
}

static struct cache_pin **bucket_of(const struct cache *cache,
				    const struct shard *shard, uint64_t key)
{
	return &shard->buckets[mix(key) >> 40 & (cache->bucket_count - 1)];
}

/* Where the chunk hangs, or would: *result is it or NULL. Under the lock. */
static struct cache_pin **find(const struct cache *cache, const struct shard *shard,
			       uint64_t key)
{
	struct cache_pin **at = bucket_of(cache, shard, key);

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	return at;
}

static uint64_t weight(const struct cache_pin *chunk)
{
	return sizeof(*chunk) + chunk->room;
}

/* Both under the lock of the chunk's shard. */
static void idle_add(struct cache *cache, struct shard *shard, struct cache_pin *chunk)
{
	chunk->idle = (struct link){ &shard->idle, shard->idle.after };
	chunk->idle.after->before = &chunk->idle;
	shard->idle.after = &chunk->idle;
	atomic_fetch_add(&cache->idle, weight(chunk));
}

static void idle_remove(struct cache *cache, struct cache_pin *chunk)
{
	chunk->idle.before->after = chunk->idle.after;
	chunk->idle.after->before = chunk->idle.before;
	atomic_fetch_sub(&cache->idle, weight(chunk));
}

/* Takes out of a shard what is over the budget, but not `newest`: a list by `next`. */
static struct cache_pin *take_excess(struct cache *cache, struct shard *shard,
				     uint64_t newest)
{
	struct cache_pin *excess = NULL;

	LOCK_GUARD(&shard->lock);
	while (atomic_load(&cache->idle) > cache->budget) {
		struct link *oldest = shard->idle.before;
		struct cache_pin *chunk = (struct cache_pin *)(void *)oldest;

		if (oldest == &shard->idle || chunk->key == newest)
			break;
		idle_remove(cache, chunk);
		*find(cache, shard, chunk->key) = chunk->next;
		chunk->next = excess;
		excess = chunk;
	}
	return excess;
}

/* `newest`: the key of the chunk that was just given back. */
static void drop_excess(struct cache *cache, uint64_t newest)
{
	size_t first = shard_number(cache, newest);

	for (size_t i = 0; i < cache->shard_count; i++) {
		size_t at = (first + i) & (cache->shard_count - 1);
		struct cache_pin *chunk;

		if (atomic_load(&cache->idle) <= cache->budget)
			return;
		chunk = take_excess(cache, &cache->shards[at], newest);
		while (chunk) {
			struct cache_pin *next = chunk->next;

			free(chunk);
			chunk = next;
		}
	}
}

static struct cache_pin *chunk_new(uint64_t key, size_t room)
{
	struct cache_pin *chunk;

	if (room > SIZE_MAX - sizeof(*chunk))
		return NULL;
	chunk = malloc(sizeof(*chunk) + room);
	if (chunk)
		*chunk = (struct cache_pin){ .key = key, .room = room, .pins = 1 };
	return chunk;
}

/*
 * Pins the chunk of `key`: what is there, or else `spare` (if there is one), which
 * is then in the table, LOADING. NULL: neither.
 */
static struct cache_pin *pin(struct cache *cache, uint64_t key, struct cache_pin *spare)
{
	struct shard *shard = shard_of(cache, key);
	struct cache_pin **at, *chunk;

	LOCK_GUARD(&shard->lock);
	at = find(cache, shard, key);
	chunk = *at;
	if (!chunk)
		return *at = spare;
	if (chunk->pins++ == 0)
		idle_remove(cache, chunk);
	while (chunk->state == LOADING)
		wakeup_wait(&shard->loaded, &shard->lock);
	return chunk;
}

static void load(struct cache *cache, struct cache_pin *chunk, cache_fill *fill,
		 void *context)
{
	struct shard *shard = shard_of(cache, chunk->key);

	chunk->size = fill(context, chunk->data, chunk->room);
	assert(chunk->size < 0 || (size_t)chunk->size <= chunk->room);
	LOCK_GUARD(&shard->lock);
	chunk->state = chunk->size < 0 ? FAILED : READY;
	if (chunk->state == FAILED)
		*find(cache, shard, chunk->key) = chunk->next;
	wakeup_all(&shard->loaded);
}

int cache_get(struct cache *cache, uint64_t key, size_t room, cache_fill *fill,
	      void *context, struct cache_pin **out)
{
	struct cache_pin *chunk = pin(cache, key, NULL);

	if (!chunk) {
		struct cache_pin *spare = chunk_new(key, room);

		if (!spare)
			return -ENOMEM;
		chunk = pin(cache, key, spare);
		if (chunk == spare)
			load(cache, chunk, fill, context);
		else
			free(spare);
	}
	if (chunk->size < 0) {
		int err = (int)chunk->size;

		cache_put(cache, chunk);
		return err;
	}
	*out = chunk;
	return 0;
}

/* Gives up a pin: the chunk, if it is to be freed. */
static bool unpin(struct cache *cache, struct cache_pin *chunk)
{
	struct shard *shard = shard_of(cache, chunk->key);

	LOCK_GUARD(&shard->lock);
	assert(chunk->pins > 0);
	if (--chunk->pins > 0)
		return false;
	if (chunk->state == READY)
		idle_add(cache, shard, chunk);
	return chunk->state == FAILED;
}

void cache_put(struct cache *cache, struct cache_pin *chunk)
{
	uint64_t key = chunk->key; /* an idle chunk may go at any time */

	if (unpin(cache, chunk))
		free(chunk);
	else
		drop_excess(cache, key);
}

const void *cache_data(const struct cache_pin *chunk)
{
	return chunk->data;
}

size_t cache_size(const struct cache_pin *chunk)
{
	return (size_t)chunk->size;
}
