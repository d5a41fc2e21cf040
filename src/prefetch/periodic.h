/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * periodic.h: a check that one of many threads makes, at most once in a period. Private to
 * prefetch/.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_PREFETCH_PERIODIC_H
#define GRANARY_PREFETCH_PERIODIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Initially zero. */
struct periodic {
	_Atomic bool running;
	_Atomic int64_t checked_at;
};

/*
 * Milliseconds since the last check, if it is due: this thread makes it, and calls
 * periodic_end. 0: not due, or another thread makes it.
 */
static inline int64_t periodic_begin(struct periodic *periodic, int64_t now_ms,
				     int64_t period_ms)
{
	int64_t past = now_ms - atomic_load(&periodic->checked_at);

	return past >= period_ms && !atomic_exchange(&periodic->running, true) ? past : 0;
}

static inline void periodic_end(struct periodic *periodic, int64_t now_ms)
{
	atomic_store(&periodic->checked_at, now_ms);
	atomic_store(&periodic->running, false);
}

#endif
