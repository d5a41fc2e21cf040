/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/stats.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static struct stats_cells own_cells;
static struct stats_cells *present_cells = &own_cells;

_Atomic uint64_t *counter_cells = own_cells.counters;
struct histogram_cells *histogram_cells = own_cells.histograms;

const struct counter_info counter_infos[COUNTER_COUNT] = {
#define COUNTER(name, unit, sentence) { KIND_COUNTER, #name, #unit, sentence },
#define GAUGE(name, unit, sentence) { KIND_GAUGE, #name, #unit, sentence },
#define HISTOGRAM(name, sentence)
#include "stats/counters.def"
#undef COUNTER
#undef GAUGE
#undef HISTOGRAM
};

const struct histogram_info histogram_infos[HISTOGRAM_COUNT] = {
#define COUNTER(name, unit, sentence)
#define GAUGE(name, unit, sentence)
#define HISTOGRAM(name, sentence) { #name, sentence },
#include "stats/counters.def"
#undef COUNTER
#undef GAUGE
#undef HISTOGRAM
};

void stats_move(struct stats_cells *to)
{
	const _Atomic uint64_t *from = (const _Atomic uint64_t *)present_cells;
	_Atomic uint64_t *cells = (_Atomic uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*cells); i++)
		atomic_init(&cells[i], atomic_load(&from[i]));
	present_cells = to;
	counter_cells = to->counters;
	histogram_cells = to->histograms;
}

int stats_share(void)
{
	void *memory = mmap(NULL, sizeof(struct stats_cells), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	stats_move(memory);
	return 0;
}

const struct stats_cells *stats_now(void)
{
	return present_cells;
}

uint64_t stats_times(const struct histogram_cells *cells)
{
	uint64_t sum = 0;

	for (int i = 0; i < BUCKET_COUNT; i++)
		sum += stats_load(&cells->buckets[i]);
	return sum;
}

/* The text behind the prefix, or NULL if the name has another. */
static const char *stats_after(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

const char *stats_request_of(enum counter counter)
{
	return stats_after(counter_infos[counter].name, "fuse_");
}

const char *stats_request_timed(enum histogram histogram)
{
	return stats_after(histogram_infos[histogram].name, "request_");
}

uint64_t stats_requests(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (stats_request_of((enum counter)i))
			sum += stats_get((enum counter)i);
	}
	return sum;
}

uint64_t stats_work(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_infos[i].kind == KIND_COUNTER)
			sum += stats_get((enum counter)i);
	}
	return sum;
}

uint64_t stats_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

unsigned stats_bucket(uint64_t nanoseconds)
{
	unsigned bits;

	if (nanoseconds <= UINT64_C(1) << BUCKET_FIRST)
		return 0;
	/* the smallest power of two that is not less */
	bits = 64 - (unsigned)__builtin_clzll(nanoseconds - 1);
	return bits - BUCKET_FIRST < BUCKET_BOUNDS ? bits - BUCKET_FIRST : BUCKET_BOUNDS;
}

uint64_t stats_add_duration(enum histogram histogram, uint64_t begin, bool demand)
{
	struct histogram_cells *cells = &histogram_cells[histogram];
	uint64_t end = stats_clock(), took = end > begin ? end - begin : 0;

	atomic_fetch_add_explicit(&cells->buckets[stats_bucket(took)], 1,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&cells->sum_ns, took, memory_order_relaxed);
	if (demand)
		atomic_fetch_add_explicit(&cells->demand_ns, took, memory_order_relaxed);
	return took;
}
