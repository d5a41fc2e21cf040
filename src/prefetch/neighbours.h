/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * neighbours.h: files that were decoded along with one that was read. Private to
 * prefetch/.
 *
 * A chunk may hold many files: the small ones of a squashfs image, rows of an array. It
 * is decoded for one of them, and the others are pushed while it is in the processor's
 * cache. So each chunk is decoded once, as far as the kernel has inodes of its files, and
 * the daemon need not keep it.
 */
#ifndef GRANARY_PREFETCH_NEIGHBOURS_H
#define GRANARY_PREFETCH_NEIGHBOURS_H

#include "base/ring.h"
#include "prefetch/push_blocks.h"
#include "prefetch/room.h"

enum { NEIGHBOURS_ROOM = 64 };

/*
 * The stored bytes of a file that was read: those of its chunks. `evicted`: the kernel had
 * its pages, and dropped them; so it probably dropped those of the others.
 */
struct neighbourhood {
	struct volume_span stored;
	bool evicted;
};

/* Initially zero. */
struct neighbours {
	RING(struct neighbourhood, NEIGHBOURS_ROOM) queue;
	unsigned vain; /* so many of them in a row were pushed in vain, */
	unsigned skip; /* so as many of the next ones are not queued */
};

/*
 * Queues one, unless its chunk is queued or there is no room; few, while the kernel
 * knows the files that are read and no others. One thread at a time.
 */
void neighbours_add(struct neighbours *neighbours, const struct neighbourhood *around);
bool neighbours_pop(struct neighbours *neighbours, struct neighbourhood *out);

/* One of them was pushed: `any` file of it. One thread at a time. */
void neighbours_pushed(struct neighbours *neighbours, bool any);

/*
 * Pushes the files that begin in these bytes, as far as they are decoded and there is
 * room: false: none. Any number of threads, each with its worker.
 */
bool neighbours_push(struct pusher *pusher, struct push_worker *worker,
		     const struct order *order, const struct neighbourhood *around,
		     const struct room *room);

#endif
