/*
 * stats.h: counters, each defined once in counters.def.
 *
 * Adding and setting are one relaxed atomic operation each and may be done by any
 * thread. After
 * stats_share all processes that are forked count into the same cells.
 */
#ifndef GRANARY_STATS_STATS_H
#define GRANARY_STATS_STATS_H

#include <stdatomic.h>
#include <stdint.h>

enum counter {
#define COUNTER(name, unit, sentence) COUNTER_##name,
#define GAUGE(name, unit, sentence) COUNTER_##name,
#include "stats/counters.def"
#undef COUNTER
#undef GAUGE
	COUNTER_COUNT
};

enum counter_kind { KIND_COUNTER, KIND_GAUGE };

struct counter_info {
	enum counter_kind kind;
	const char *name;
	const char *unit;
	const char *sentence;
};

extern const struct counter_info counter_infos[COUNTER_COUNT];
extern _Atomic uint64_t *counter_cells;

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

#endif
