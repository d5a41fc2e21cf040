/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache/cache_check.h"

#include <stddef.h>

#include "cache/state.h"

/* The counts of one check. */
struct count {
	uint64_t table; /* bytes of the chunks in tables */
	uint64_t used;  /* of the idle ones that are USED */
	uint64_t idle[CHUNK_LISTS]; /* chunks in the lists */
	uint64_t unheld;            /* chunks in tables without a pin */
	uint64_t idle_bytes;
};

static const char *invariants_check_chunk(const struct cache_pin *chunk,
					  struct count *count)
{
	if (chunk->state == FAILED)
		return "a FAILED chunk is in the table";
	if (chunk->state == LOADING && chunk->pins == 0)
		return "nobody holds a chunk that is LOADING";
	if (chunk->state == READY && chunk->pins == 0)
		count->unheld++;
	count->table += cache_weight(chunk);
	return NULL;
}

static const char *invariants_check_table(struct cache *cache, struct shard *shard,
					  struct count *count)
{
	for (size_t i = 0; i < cache->bucket_count; i++) {
		const struct cache_pin *chunk = shard->buckets[i];

		for (; chunk; chunk = chunk->next) {
			const char *wrong = invariants_check_chunk(chunk, count);

			if (wrong)
				return wrong;
			if (cache_shard(cache, chunk->id) != shard ||
			    cache_bucket(cache, shard, chunk->id) != &shard->buckets[i])
				return "a chunk is where its key does not belong";
		}
	}
	return NULL;
}

static bool in_table(const struct cache *cache, const struct shard *shard,
		     const struct cache_pin *chunk)
{
	const struct cache_pin *at = *cache_bucket(cache, shard, chunk->id);

	while (at && at != chunk)
		at = at->next;
	return at;
}

static const char *invariants_check_idle(struct cache *cache, struct shard *shard,
					 enum chunk_list list, struct cache_pin *chunk)
{
	if (chunk->idle.after->before != &chunk->idle ||
	    chunk->idle.before->after != &chunk->idle)
		return "a list is torn";
	if (chunk->state != READY || chunk->pins != 0)
		return "a chunk in a list is not READY, or somebody holds it";
	if (chunk->list != list)
		return "a chunk is in the wrong list";
	if (cache_shard(cache, chunk->id) != shard || !in_table(cache, shard, chunk))
		return "a chunk in a list is not in the table";
	return NULL;
}

static const char *check_list(struct cache *cache, struct shard *shard,
			      enum chunk_list list, struct count *count)
{
	struct link *ring = &shard->idle[list];
	uint64_t number = CACHE_NONE;

	for (struct link *link = ring->after; link != ring; link = link->after) {
		struct cache_pin *chunk = chunk_of(link);
		const char *wrong = invariants_check_idle(cache, shard, list, chunk);

		if (wrong)
			return wrong;
		if (chunk->number >= number)
			return "a list is not in order";
		number = chunk->number;
		count->idle[list]++;
		count->idle_bytes += cache_weight(chunk);
		count->used += list == USED ? cache_weight(chunk) : 0;
	}
	return atomic_load(&shard->oldest[list]) == number ?
	       NULL : "a shard does not show its oldest chunk";
}

static const char *check_shard(struct cache *cache, struct shard *shard,
			       struct count *count)
{
	const char *wrong = invariants_check_table(cache, shard, count);

	for (int list = 0; list < CHUNK_LISTS && !wrong; list++)
		wrong = check_list(cache, shard, (enum chunk_list)list, count);
	return wrong;
}

static const char *check_bytes(struct cache *cache, const struct count *count, bool quiet)
{
	uint64_t held = atomic_load(&cache->held), room = cache_room(cache);
	uint64_t idle = count->idle[ORDINARY] + count->idle[USED];

	if (idle != count->unheld)
		return "a chunk that nobody holds is in no list";
	if (count->used != atomic_load(&cache->used))
		return "the bytes of the used chunks are not what is counted";
	if (count->table > held)
		return "more bytes are in the tables than are counted";
	if (!quiet)
		return NULL;
	if (held != count->table)
		return "the bytes are not what is counted";
	if (count->used > cache->used_most)
		return "too many used chunks are kept";
	/* the exception: one idle chunk that is larger than the budget */
	if (held > room && idle > 0 && !(idle == 1 && count->idle_bytes > room))
		return "idle chunks are kept although the budget is exceeded";
	if (slab_bytes(&cache->slab) > cache_spare(atomic_load(&cache->budget)))
		return "too much memory is kept to be used again";
	return NULL;
}

const char *cache_check(struct cache *cache, bool quiet)
{
	struct count count = { 0 };
	const char *wrong = NULL;

	HANDLE_CHECK(cache, HANDLE_CACHE);
	for (unsigned i = 0; i < CACHE_SHARDS; i++)
		lock_acquire(&cache->shards[i].lock);
	for (unsigned i = 0; i < CACHE_SHARDS && !wrong; i++)
		wrong = check_shard(cache, &cache->shards[i], &count);
	if (!wrong)
		wrong = check_bytes(cache, &count, quiet);
	for (unsigned i = CACHE_SHARDS; i > 0; i--)
		lock_release(&cache->shards[i - 1].lock);
	return wrong;
}
