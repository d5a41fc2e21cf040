/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spin.h: how long the one thread that receives looks for a request before it sleeps.
 * Private to fuse/.
 *
 * To wake a thread that sleeps takes longer than most answers do: tens of microseconds
 * where its processor sleeps too. A reader that sends one request after the other is
 * answered sooner by a thread that is still awake. But that must cost nothing where
 * nobody is that fast, and no reader its processor:
 * - It is done only while requests come sooner than the bound, by a moving average. One
 *   that comes late, or not at all, moves that at once above it.
 * - Between two looks it lets others run. If somebody did, again and again, then no
 *   processor is to spare: it sleeps instead, and tries again some milliseconds later.
 *   With a busy loop on the second of two processors readers got 12,000 instead of 19,000
 *   files/s, with one thread that sleeps 32,000.
 *
 * Threads: one at a time calls spin_wait and then spin_received.
 */
#ifndef GRANARY_FUSE_SPIN_H
#define GRANARY_FUSE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

enum { SPIN_MOST_US = 10000 }; /* that anybody may ask for */

struct spin {
	int64_t bound;      /* nanoseconds; 0: never */
	int64_t began;      /* the wait that is under way */
	int64_t gap;        /* between an answer and the next request, of late */
	int64_t not_before; /* others need the processors until then */
	long yielded;       /* how often this thread's processor was taken from it */
	unsigned at_once;   /* requests in a row that were there at the first look */
	unsigned disturbed; /* rises when it was, falls when it was not */
};

/*
 * `microseconds`: of -o spin=; MOUNT_SPIN_ADAPTIVE: what suits most. `processors`: on a
 * single one nobody could ask while it is looked.
 */
void spin_init(struct spin *spin, unsigned microseconds, unsigned processors);

bool spin_is_on(const struct spin *spin);

/* Returns when there is something to receive, or when that is not to be expected soon. */
void spin_wait(struct spin *spin, int connection);

/* There was. */
void spin_received(struct spin *spin);

/* Has one thread been too few for a while? Then this counts from 0 again. */
bool spin_is_swamped(struct spin *spin);

#endif
