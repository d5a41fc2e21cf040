/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.h: counters and histograms, each defined once in counters.def.
 *
 * Threads: any. Each change is one relaxed atomic operation. After stats_share all forked
 * processes share the cells.
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

/* COUNTER_sweep_limit: why no more is read ahead. */
enum sweep_limit {
	LIMIT_NONE,
	LIMIT_OFF,       /* prefetch=off or window */
	LIMIT_NO_JOB,    /* version 0.1: outside of a job */
	LIMIT_NO_LOADER, /* prefetch=auto: no loader seen */
	LIMIT_BUDGET,
	LIMIT_MEMORY,    /* other processes need it */
	LIMIT_FAILED,    /* out of memory, or servers crashed in read-ahead */
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
 * Bucket `i` counts durations up to 2^(BUCKET_FIRST + i) nanoseconds that exceed the
 * bucket before: from a microsecond to 17 seconds. The last one counts all longer ones.
 */
enum { BUCKET_FIRST = 10, BUCKET_BOUNDS = 25, BUCKET_COUNT = BUCKET_BOUNDS + 1 };

struct histogram_cells {
	_Atomic uint64_t buckets[BUCKET_COUNT];
	_Atomic uint64_t sum_ns;
	_Atomic uint64_t demand_ns; /* of sum_ns, while a request waited */
};

/* All numbers: nothing but cells of one type. */
struct stats_cells {
	_Atomic uint64_t counters[COUNTER_COUNT];
	struct histogram_cells histograms[HISTOGRAM_COUNT];
};

extern const struct counter_info counter_infos[COUNTER_COUNT];
extern const struct histogram_info histogram_infos[HISTOGRAM_COUNT];
extern _Atomic uint64_t *counter_cells;
extern struct histogram_cells *histogram_cells;

/* Moves the counters to memory shared with forked processes: 0 or -ENOMEM. One thread. */
int stats_share(void);

/* The same, to memory of the caller's, which must outlive their use. */
void stats_move(struct stats_cells *to);

/* Where they are now. */
const struct stats_cells *stats_now(void);

static inline void stats_add(enum counter counter, uint64_t amount)
{
	atomic_fetch_add_explicit(&counter_cells[counter], amount,
				  memory_order_relaxed);
}

/* Sets a gauge. */
static inline void stats_set(enum counter counter, uint64_t value)
{
	atomic_store_explicit(&counter_cells[counter], value, memory_order_relaxed);
}

static inline uint64_t stats_get(enum counter counter)
{
	return atomic_load_explicit(&counter_cells[counter], memory_order_relaxed);
}

static inline uint64_t stats_load(const _Atomic uint64_t *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

/* How many durations a histogram has. */
uint64_t stats_times(const struct histogram_cells *cells);

/* The kind of request that a counter or a histogram is about, "read"; NULL: of none. */
const char *stats_request_of(enum counter counter);
const char *stats_request_timed(enum histogram histogram);

/* All requests of the kernel, and all counters but gauges together. */
uint64_t stats_requests(void);
uint64_t stats_work(void);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t stats_clock(void);

/*
 * Something has taken from `begin` (stats_clock) until now, in nanoseconds; `demand`: for a
 * request.
 */
uint64_t stats_add_duration(enum histogram histogram, uint64_t begin, bool demand);

/* The bucket of a duration. */
unsigned stats_bucket(uint64_t nanoseconds);

#endif
