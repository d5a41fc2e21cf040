/*
 * drops.h: files that are to leave the page cache, some time after they were read: what
 * lies beyond the budget. Private to prefetch/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_DROPS_H
#define GRANARY_PREFETCH_DROPS_H

#include <stdbool.h>
#include <stdint.h>

enum { DROPS_ROOM = 4096 };

struct drop {
	uint32_t node;
	uint64_t from;  /* this byte of the file, and all behind it */
	uint64_t bytes; /* what that takes of the page cache */
};

struct drops {
	struct drop ring[DROPS_ROOM];
	unsigned first, count;
	uint64_t bytes; /* of all that wait, */
	uint64_t most;  /* and how many of these may */
};

/* Empty. */
void drops_init(struct drops *drops, uint64_t budget);

/* False: there is no room for it. */
bool drops_add(struct drops *drops, const struct drop *drop);

/* It is being read, and could not go: it goes with those that come after it. */
void drops_put_back(struct drops *drops, const struct drop *drop);

/* The one that waits longest; false: they are few enough to stay. */
bool drops_take(struct drops *drops, struct drop *out);

#endif
