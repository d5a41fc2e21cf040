/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pace.h: the number of threads that may sweep while readers are served. Private to
 * prefetch/.
 *
 * Where storage answers at once (the packed file lies in the page cache, or on a fast
 * disk), a sweep saves a reader little, and takes its processors. Then the sweep gets only
 * the processors that are idle without it.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_PREFETCH_PACE_H
#define GRANARY_PREFETCH_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prefetch/periodic.h"

struct pace {
	_Atomic uint64_t wait_ns;   /* moving average of the reads' waits */
	_Atomic uint64_t own_ns;    /* processor time of the sweep */
	_Atomic unsigned threads;   /* idle processors at the last check */
	struct periodic check;
	uint64_t idle_ns;           /* at the last check; of the thread that makes it */
	uint64_t used_ns;           /* likewise: of the control group with a quota */
};

void pace_init(struct pace *pace);

/*
 * Notes a request that storage was read for, and how long its thread slept for that. Time
 * without a processor is none: it says nothing of storage.
 */
void pace_note(struct pace *pace, size_t bytes, uint64_t storage_ns);

/* Does storage answer at once? An average, as limits of a rate let bursts through. */
bool pace_is_quick(const struct pace *pace);

/* Adds processor time that a thread of the sweep took. */
void pace_spend(struct pace *pace, uint64_t nanoseconds);

/* Counts idle processors, if storage is quick; at most five times a second. */
void pace_update(struct pace *pace, int64_t now_ms);

/* May another thread sweep beside so many? `is_read`: readers are being served. */
bool pace_allows(const struct pace *pace, unsigned at_work, bool is_read);

/* Pure: whole processors that were idle, or used by the sweep, for the time `ns`. */
unsigned pace_threads(uint64_t idle_ns, uint64_t own_ns, uint64_t ns);

#endif
