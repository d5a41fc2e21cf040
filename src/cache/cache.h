/*
 * cache.h: decoded chunks in memory.
 *
 * A chunk is made once, by the first thread that asks for it; others that ask
 * meanwhile wait for that one. Who has got a chunk holds a pin, and it stays
 * where it is until the pin is given back. What nobody holds stays until its
 * room is needed, the one that was not used for the longest time goes first.
 *
 *	key \ state   absent       LOADING          READY
 *	cache_get     makes it     waits            pins it
 *	fill fails    -            absent, and all that wait get the error
 *	fill ends     -            READY            -
 *	no pins       -            -                may be dropped for room
 *
 * Threads: all functions but cache_new and cache_free by any number at once.
 * Locks are held over neither `fill` nor an allocation.
 */
#ifndef GRANARY_CACHE_CACHE_H
#define GRANARY_CACHE_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cache;
struct cache_pin;

/*
 * Makes a chunk: writes at most `room` bytes, and returns how many, or a
 * negative errno, which is not remembered. It may ask the cache for other chunks,
 * not for this one.
 */
typedef ssize_t cache_fill(void *context, void *buffer, size_t room);

/*
 * `budget` bounds, in bytes, what is kept that nobody holds; only the chunk that
 * was given back last may exceed it, so that one that is too large can be read
 * piece by piece. NULL: out of memory.
 */
struct cache *cache_new(uint64_t budget);

/* No pin may be left. */
void cache_free(struct cache *cache);

/*
 * Pins the chunk `key`, which is at most `room` bytes; the same key always has
 * the same room. 0 and a pin that the caller gives back, or the error of the
 * fill, or -ENOMEM.
 */
int cache_get(struct cache *cache, uint64_t key, size_t room, cache_fill *fill,
	      void *context, struct cache_pin **out);
void cache_put(struct cache *cache, struct cache_pin *pin);

/* What a pin holds. */
const void *cache_data(const struct cache_pin *pin);
size_t cache_size(const struct cache_pin *pin);

#endif
