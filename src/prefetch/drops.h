/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drops.h: files that are to leave the page cache, some time after they were read: what
 * lies beyond the budget. Private to prefetch/.
 *
 * The kernel reads ahead, so who has asked for a file's end may still be on his way to it.
 * Small files wait until others have been read after them; a large one, which is all that
 * waits, rests for half a second.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_DROPS_H
#define GRANARY_PREFETCH_DROPS_H

#include <stdbool.h>
#include <stdint.h>

enum { DROPS_ROOM = 4096, DROPS_REST_MS = 500 };

struct drop {
	uint32_t node;
	uint64_t from;  /* this byte of the file, and all behind it */
	uint64_t bytes; /* what that takes of the page cache */
	int64_t since;  /* milliseconds */
	bool busy;      /* it was being read when it was to go */
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

/* It is being read, and cannot go yet. */
void drops_put_back(struct drops *drops, const struct drop *drop, int64_t now);

/* The one that waits longest, if it is to go now. */
bool drops_take(struct drops *drops, int64_t now, struct drop *out);

/* Is one to go soon? */
bool drops_are_due(const struct drops *drops);

#endif
