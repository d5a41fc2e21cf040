/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drops.h: files beyond the budget, which leave the page cache some time after they were
 * read. Private to prefetch/.
 *
 * The kernel reads ahead, so a reader may not have reached the end of a file that the
 * kernel has requested. A small file is dropped after others have been read behind it; a
 * large file, alone in the queue, after half a second.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_DROPS_H
#define GRANARY_PREFETCH_DROPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ring.h"

enum { DROPS_ROOM = 4096, DROPS_DELAY_MS = 500 };

struct drop {
	uint32_t node;
	uint64_t from;  /* the file's pages from this byte on */
	uint64_t bytes; /* bytes in the page cache */
	int64_t since;  /* when it was queued, in milliseconds */
	bool busy;      /* it was being read at the last attempt */
};

struct drops {
	RING(struct drop, DROPS_ROOM) queue;
	uint64_t bytes; /* of all queued files */
	uint64_t most;  /* limit of `bytes` */
};

/* Empties the queue. */
void drops_init(struct drops *drops, uint64_t budget);

/* Queues a file. False: no room. */
bool drops_add(struct drops *drops, const struct drop *drop);

/* Queues a file again that is being read. */
void drops_requeue(struct drops *drops, const struct drop *drop, int64_t now);

/* Removes the oldest file if it may be dropped now. */
bool drops_pop(struct drops *drops, int64_t now, struct drop *out);

/* Has the queue reached its limit? */
bool drops_are_full(const struct drops *drops);

#endif
