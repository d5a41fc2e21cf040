/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spin.h: how long the one receiving thread polls for a request before it sleeps.
 * Private to fuse/.
 *
 * Waking a thread takes longer than most answers: tens of microseconds if its processor
 * sleeps too. A thread that is awake answers a reader of many small files sooner. But
 * polling must not cost power without such a reader, nor take a reader's processor:
 * - The thread polls only while requests come sooner than the bound, by a moving average.
 *   A late request moves the average above the bound at once.
 * - The thread yields between polls. If other threads ran, again and again, no processor
 *   is free: the thread sleeps, and polls again some milliseconds later. With a busy
 *   loop on the second of two processors readers got 12,000 instead of 19,000 files/s,
 *   with one thread that sleeps 32,000.
 *
 * Threads: one at a time calls spin_wait and then spin_received.
 */
#ifndef GRANARY_FUSE_SPIN_H
#define GRANARY_FUSE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

enum { SPIN_MOST_US = 10000 }; /* most that -o spin= takes */

struct spin {
	int64_t bound;      /* nanoseconds; 0: never */
	int64_t began;      /* start of the present wait */
	int64_t gap;        /* recent average between an answer and the next request */
	int64_t not_before; /* others need the processors until then */
	long yielded;       /* preemptions of this thread */
	unsigned at_once;   /* requests in a row that arrived before the first poll */
	unsigned disturbed; /* rises with preemptions, falls without */
};

/*
 * `microseconds`: of -o spin=, or MOUNT_SPIN_ADAPTIVE. `processors`: on a single one no
 * process could send a request meanwhile.
 */
void spin_init(struct spin *spin, unsigned microseconds, unsigned processors);

bool spin_is_on(const struct spin *spin);

/* Returns when a request can be received, or none is expected soon. */
void spin_wait(struct spin *spin, int connection);

/* A request was received. */
void spin_received(struct spin *spin);

/* Was one thread too few for a while? Resets the count. */
bool spin_is_overloaded(struct spin *spin);

#endif
