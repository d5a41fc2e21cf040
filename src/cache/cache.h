/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h: chunks in memory: decoded ones, and blocks of the packed files.
 *
 * A chunk is made once, by the first thread that asks for it; threads that ask meanwhile
 * wait for it. A pin keeps a chunk in memory until the pin is given back. A chunk without
 * a pin is idle, and stays until its room is needed. Idle chunks that were given back as
 * used are dropped first, then the others, the least recently used first.
 *
 *	key \ state       absent     LOADING                      READY
 *	cache_get         makes it   waits                        pins it
 *	cache_drop        -          -                            absent; pins stay valid
 *	cache_peek        0          waits; pins it, or 0         pins it
 *	cache_has         false      true                         true
 *	fill fails        -          absent, and all that wait    -
 *	                             in cache_get get the error
 *	fill ends         -          READY                        -
 *	last pin is put   -          -                            idle, may be dropped for room
 *	last pin is put   -          -                            idle, goes before the others,
 *	  as used                                                 and few are kept at all
 *	last pin is put,  -          -                            absent
 *	  all was read
 *
 * Threads: all functions but cache_new and cache_free by any number at once.
 * Locks are held over neither `fill` nor an allocation.
 */
#ifndef GRANARY_CACHE_CACHE_H
#define GRANARY_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cache;
struct cache_pin;

/*
 * In bytes. `budget` bounds all chunks, pinned, idle or being made, and the memory that
 * is kept for reuse. Idle chunks are dropped to stay within it, before a new chunk gets
 * its memory. Pinned chunks may exceed it. So may one idle chunk that is larger than the
 * whole budget, until the next chunk is given back: otherwise it would be made again for
 * each piece that is read of it. `used` bounds the idle chunks that were given back as
 * used.
 */
struct cache_limits {
	uint64_t budget;
	uint64_t used;
};

#define CACHE_USED_DEFAULT (UINT64_C(32) << 20)

#define CACHE_FOREVER 0xffffffffU /* milliseconds */

/*
 * Makes a chunk: writes at most `room` bytes, and returns their number, or a negative
 * errno, which is not cached. The callback may get other chunks of the cache, not this
 * one. A buffer of SLAB_MAPPED_LEAST or more begins at a page.
 */
typedef ssize_t cache_fill(void *context, void *buffer, size_t room);

/* NULL: out of memory. */
struct cache *cache_new(const struct cache_limits *limits);

/* No pin may be left. */
void cache_free(struct cache *cache);

/* Sets the budget, and drops idle chunks until they fit, before it returns. */
void cache_set_budget(struct cache *cache, uint64_t budget);

/* The present bytes: chunks, and memory that is kept for reuse. */
uint64_t cache_bytes(const struct cache *cache);

/*
 * Pins the chunk `key`, which is at most `room` bytes; the same key always has
 * the same room. 0 and a pin that the caller gives back, or the error of the
 * fill, or -ENOMEM.
 */
int cache_get(struct cache *cache, uint64_t key, size_t room, cache_fill *fill,
	      void *context, struct cache_pin **out);

/*
 * The same with a limit on the wait for another thread that makes the chunk: -ETIMEDOUT.
 * After one such timeout no thread waits for that chunk any more.
 */
int cache_get_within(struct cache *cache, uint64_t key, size_t room, unsigned milliseconds,
		     cache_fill *fill, void *context, struct cache_pin **out);

/*
 * 1 and a pin if the chunk is present, or another thread makes it in time (as in
 * cache_get_within); otherwise 0. Never makes a chunk.
 */
int cache_peek(struct cache *cache, uint64_t key, unsigned milliseconds,
	       struct cache_pin **out);

/* Is the chunk present, or being made? The answer may be outdated on return. */
bool cache_has(struct cache *cache, uint64_t key);

/*
 * The contents are wrong: removes the chunk, so that the next cache_get makes it again.
 */
void cache_drop(struct cache *cache, uint64_t key);

/*
 * Give back a pin; the second marks the chunk as used: probably not needed again. Of
 * several pins the last one decides.
 */
void cache_put(struct cache *cache, struct cache_pin *pin);
void cache_put_used(struct cache *cache, struct cache_pin *pin);

/*
 * Gives back a pin through which `n` bytes were read that are not needed again: the
 * chunk is what it was before, but used once most of it has been read, and absent once
 * all has: the next chunk gets its memory while that is in the processor's cache.
 * `used`: if it is not absent, it is used.
 */
void cache_put_read(struct cache *cache, struct cache_pin *pin, size_t n, bool used);

/* The contents of a pinned chunk. */
const void *cache_data(const struct cache_pin *pin);
size_t cache_size(const struct cache_pin *pin);

#endif
