/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h: chunks in memory: decoded ones, and blocks of the packed files.
 *
 * A chunk is made once, by the first thread that asks for it; others that ask
 * meanwhile wait for that one. Who has got a chunk holds a pin, and it stays
 * where it is until the pin is given back. What nobody holds is idle, and stays
 * until its room is needed: first goes what was given back as used, then the rest,
 * the one that was not used for the longest time first.
 *
 *	key \ state       absent     LOADING                      READY
 *	cache_get         makes it   waits                        pins it
 *	cache_drop        -          -                            absent; who holds it has it still
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
 * In bytes. `budget` bounds all chunks, those that are held and those that are being
 * made as well, and memory that is kept to be used again. Idle chunks are dropped to
 * stay within it, before a new one gets its memory; those that are held may exceed it.
 * So may one idle chunk that is larger than the whole budget, until the next one is
 * given back: otherwise it would be made anew for each piece that is read of it.
 * `used` bounds the idle chunks that were given back as used.
 */
struct cache_limits {
	uint64_t budget;
	uint64_t used;
};

#define CACHE_USED_DEFAULT (UINT64_C(32) << 20)

#define CACHE_FOREVER 0xffffffffU /* milliseconds */

/*
 * Makes a chunk: writes at most `room` bytes, and returns how many, or a
 * negative errno, which is not remembered. It may ask the cache for other chunks,
 * not for this one. A buffer of SLAB_MAPPED_LEAST or more begins at a page.
 */
typedef ssize_t cache_fill(void *context, void *buffer, size_t room);

/* NULL: out of memory. */
struct cache *cache_new(const struct cache_limits *limits);

/* No pin may be left. */
void cache_free(struct cache *cache);

/* A new budget, which holds when it returns, as far as idle chunks can make it. */
void cache_set_budget(struct cache *cache, uint64_t budget);

/* What it takes now: chunks, and memory that is kept to be used again. */
uint64_t cache_bytes(const struct cache *cache);

/*
 * Pins the chunk `key`, which is at most `room` bytes; the same key always has
 * the same room. 0 and a pin that the caller gives back, or the error of the
 * fill, or -ENOMEM.
 */
int cache_get(struct cache *cache, uint64_t key, size_t room, cache_fill *fill,
	      void *context, struct cache_pin **out);

/*
 * The same, but another thread that makes the chunk is waited for no longer than so, and
 * when that was too long for one, nobody waits for it any more: -ETIMEDOUT.
 */
int cache_get_within(struct cache *cache, uint64_t key, size_t room, unsigned milliseconds,
		     cache_fill *fill, void *context, struct cache_pin **out);

/*
 * 1 and a pin, if the chunk is there, or is being made and that ends well, which it
 * waits for as cache_get_within does; otherwise 0. Never makes one.
 */
int cache_peek(struct cache *cache, uint64_t key, unsigned milliseconds,
	       struct cache_pin **out);

/* Is it there, or being made? By the time of the answer it may not be. */
bool cache_has(struct cache *cache, uint64_t key);

/* What is there is wrong: the next who asks for it makes it anew. */
void cache_drop(struct cache *cache, uint64_t key);

/*
 * Give back a pin; the second says that the chunk is probably not needed again. Of
 * several pins the one that is given back last says what the chunk is.
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

/* What a pin holds. */
const void *cache_data(const struct cache_pin *pin);
size_t cache_size(const struct cache_pin *pin);

/*
 * For tests: NULL, or which invariant is broken. It stops all threads for as long as
 * it looks. `quiet`: no other thread is in a call; then the bytes are checked as well.
 */
const char *cache_check(struct cache *cache, bool quiet);

#endif
