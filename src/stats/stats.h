/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.h: counters and histograms, each defined once in counters.def.
 *
 * Adding and setting are one relaxed atomic operation each and may be done by any
 * thread. After stats_share all processes that are forked count into the same cells.
 */
#ifndef GRANARY_STATS_STATS_H
#define GRANARY_STATS_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum counter {
#define COUNTER(name, unit, sentence) COUNTER_##name,
#define GAUGE(name, unit, sentence) COUNTER_##name,
#define HISTOGRAM(name, sentence)
#include "stats/counters.def"
#undef COUNTER
#undef GAUGE
#undef HISTOGRAM
	COUNTER_COUNT
};

enum histogram {
#define COUNTER(name, unit, sentence)
#define GAUGE(name, unit, sentence)
#define HISTOGRAM(name, sentence) HISTOGRAM_##name,
#include "stats/counters.def"
#undef COUNTER
#undef GAUGE
#undef HISTOGRAM
	HISTOGRAM_COUNT
};

/* COUNTER_sweep_limit: why no more is read ahead than is, or nothing. */
enum sweep_limit {
	LIMIT_NONE,
	LIMIT_OFF,       /* prefetch=off or window */
	LIMIT_NO_JOB,    /* prefetch=auto: outside of a job */
	LIMIT_NO_LOADER, /* prefetch=auto: none has begun */
	LIMIT_BUDGET,
	LIMIT_MEMORY,    /* others need it */
	LIMIT_FAILED,    /* no memory for it, or servers crashed of it */
	LIMIT_EMPTY,
	LIMIT_COUNT
};

enum counter_kind { KIND_COUNTER, KIND_GAUGE };

struct counter_info {
	enum counter_kind kind;
	const char *name;
	const char *unit;
	const char *sentence;
};

struct histogram_info {
	const char *name;
	const char *sentence;
};

/*
 * Bucket `i` has what took at most 2^(BUCKET_FIRST + i) nanoseconds, and more than the
 * bucket before: from a microsecond to 17 seconds. The last one has what took longer.
 */
enum { BUCKET_FIRST = 10, BUCKET_BOUNDS = 25, BUCKET_COUNT = BUCKET_BOUNDS + 1 };

struct histogram_cells {
	_Atomic uint64_t buckets[BUCKET_COUNT];
	_Atomic uint64_t sum_ns;
	_Atomic uint64_t demand_ns; /* of that, while a request waited for it */
};

extern const struct counter_info counter_infos[COUNTER_COUNT];
extern const struct histogram_info histogram_infos[HISTOGRAM_COUNT];
extern _Atomic uint64_t *counter_cells;
extern struct histogram_cells *histogram_cells;

/* Moves the counters to memory that a fork shares: 0 or -ENOMEM. One thread. */
int stats_share(void);

static inline void stats_add(enum counter counter, uint64_t amount)
{
	atomic_fetch_add_explicit(&counter_cells[counter], amount,
				  memory_order_relaxed);
}

/* Of a gauge. */
static inline void stats_set(enum counter counter, uint64_t value)
{
	atomic_store_explicit(&counter_cells[counter], value, memory_order_relaxed);
}

static inline uint64_t stats_get(enum counter counter)
{
	return atomic_load_explicit(&counter_cells[counter], memory_order_relaxed);
}

/* Nanoseconds of a clock that only goes forward. */
uint64_t stats_clock(void);

/* Something has taken from `begin` (stats_clock) until now; `demand`: for a request. */
void stats_took(enum histogram histogram, uint64_t begin, bool demand);

/* The bucket of something that took so long. */
unsigned stats_bucket(uint64_t nanoseconds);

#endif
