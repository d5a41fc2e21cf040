/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * state.h: the members of a cache, for cache.c and its tests.
 *
 * Chunks are spread over shards by their keys. A shard has a lock, a table, and two lists
 * of idle chunks, in the order in which they were given back.
 *
 *	state     in the table   pins      in a list
 *	LOADING   yes            1 or more no
 *	READY     yes            1 or more no
 *	READY     yes            0         yes: `used` says in which
 *	FAILED    no             1 or more no; it could not be made, or was dropped
 *
 * Chunks are numbered when they are given back, and each shard publishes the lowest
 * number of each list. So the oldest chunk of all is found without a lock.
 *
 * `held` counts each chunk from before it gets its memory until it has left the table
 * (or, FAILED, lost its last pin). A thread that raises `held`, makes a chunk idle or
 * lowers the budget drops idle chunks until `held` fits, or none is left.
 */
#ifndef GRANARY_CACHE_STATE_H
#define GRANARY_CACHE_STATE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/invariant.h"
#include "os/lock.h"
#include "os/slab.h"

enum {
	CACHE_SHARDS = 16, /* shard_number takes four bits */
	CACHE_LINE = 64,
};

#define CACHE_NONE UINT64_MAX /* no number: the list is empty */

enum chunk_state { LOADING, READY, FAILED };
enum chunk_list { ORDINARY, USED, CHUNK_LISTS };

/* A link in a ring of chunks; the ring's own link lies before the first. */
struct link {
	struct link *before, *after;
};

/* A chunk's key, and its hash, which is computed once for each call. */
struct cache_id {
	uint64_t key, hash;
};

/* A chunk. A pin is a counted pointer to it. */
struct cache_pin {
	struct link idle; /* shard lock; first, so that a link is a chunk */
	struct cache_pin *next; /* shard lock: in the same bucket */
	struct cache_id id;
	uint64_t number; /* shard lock: orders idle chunks */
	size_t room;
	void *data;      /* `room` bytes */
	ssize_t size;    /* or the error; set by the loading thread, then constant */
	unsigned pins;   /* shard lock */
	enum chunk_state state; /* shard lock */
	enum chunk_list list;   /* shard lock: how it was last given back */
	bool late;              /* shard lock: a wait for it timed out */
	_Atomic size_t spent;   /* bytes read that are not needed again */
};

struct shard {
	alignas(CACHE_LINE) struct lock lock;
	struct wakeup loaded;          /* a chunk is no longer LOADING */
	struct cache_pin **buckets;    /* lock */
	struct link idle[CHUNK_LISTS]; /* lock: the one given back last comes first */
	_Atomic uint64_t oldest[CHUNK_LISTS]; /* its number; written under the lock */
};

struct cache {
	uint64_t magic; /* HANDLE_CACHE */
	_Atomic uint64_t budget;
	uint64_t used_most;
	_Atomic uint64_t held; /* bytes of all chunks */
	_Atomic uint64_t used; /* bytes of the idle ones that are USED; shard locks */
	_Atomic uint64_t next_number;
	size_t bucket_count; /* a shard; a power of two */
	struct slab slab;
	struct shard shards[CACHE_SHARDS];
};

/* Keys are numbers in order, or every n-th of them: spreads either evenly. */
static inline struct cache_id cache_id(uint64_t key)
{
	return (struct cache_id){ key, hash_number(key, 0) };
}

static inline struct shard *cache_shard(struct cache *cache, struct cache_id id)
{
	return &cache->shards[id.hash >> 60 & (CACHE_SHARDS - 1)];
}

static inline struct cache_pin **cache_bucket(const struct cache *cache,
					      const struct shard *shard,
					      struct cache_id id)
{
	return &shard->buckets[id.hash >> 36 & (cache->bucket_count - 1)];
}

static inline struct cache_pin *chunk_of(struct link *link)
{
	return (struct cache_pin *)(void *)link;
}

static inline uint64_t cache_weight(const struct cache_pin *chunk)
{
	return sizeof(*chunk) + slab_weight(chunk->room);
}

/* The part of the budget for memory that is kept for reuse. */
static inline uint64_t cache_spare(uint64_t budget)
{
	enum { PART = 32, MOST = 16 << 20 };

	return budget / PART < MOST ? budget / PART : MOST;
}

/* The part for chunks. */
static inline uint64_t cache_room(const struct cache *cache)
{
	uint64_t budget = atomic_load(&cache->budget);

	return budget - cache_spare(budget);
}

#endif
