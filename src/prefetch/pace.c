/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/pace.h"

#include "os/processors.h"

enum {
	PROBE_MS = 200,
	MEMORY = 64,           /* reads in the moving average */
	QUICK_NS = 200 * 1000,
	UNKNOWN_NS = 400 * 1000, /* quick after some 45 reads from memory */
};

static const uint64_t NS_OF_MS = 1000 * 1000;

void pace_init(struct pace *pace)
{
	*pace = (struct pace){ .wait_ns = UNKNOWN_NS };
}

void pace_note(struct pace *pace, size_t bytes, uint64_t storage_ns)
{
	uint64_t average = atomic_load_explicit(&pace->wait_ns, memory_order_relaxed);
	uint64_t wait = storage_ns > bytes ? storage_ns - bytes : 0; /* 1 GB/s is quick */

	average += wait / MEMORY;
	average -= average / MEMORY;
	/* a read that is lost to another thread does not matter */
	atomic_store_explicit(&pace->wait_ns, average, memory_order_relaxed);
}

bool pace_is_quick(const struct pace *pace)
{
	return atomic_load_explicit(&pace->wait_ns, memory_order_relaxed) <= QUICK_NS;
}

void pace_spend(struct pace *pace, uint64_t nanoseconds)
{
	atomic_fetch_add(&pace->own_ns, nanoseconds);
}

unsigned pace_threads(uint64_t idle_ns, uint64_t own_ns, uint64_t ns)
{
	/* a processor is never idle to the last moment */
	return ns == 0 ? 0 : (unsigned)((idle_ns + own_ns + ns / 8) / ns);
}

static void pace_measure(struct pace *pace, uint64_t ns)
{
	uint64_t idle = processors_idle_ns(), before = pace->idle_ns;
	uint64_t spare = processors_spare_ns(ns, &pace->used_ns);
	uint64_t own = atomic_exchange(&pace->own_ns, 0);
	uint64_t left = before && idle > before ? idle - before : 0;

	pace->idle_ns = idle;
	atomic_store(&pace->threads,
		     left ? pace_threads(left < spare ? left : spare, own, ns) : 0);
}

void pace_update(struct pace *pace, int64_t now_ms)
{
	int64_t past = pace_is_quick(pace) ?
			       periodic_begin(&pace->check, now_ms, PROBE_MS) : 0;

	if (!past)
		return;
	pace_measure(pace, (uint64_t)past * NS_OF_MS);
	periodic_end(&pace->check, now_ms);
}

bool pace_allows(const struct pace *pace, unsigned at_work, bool is_read)
{
	return !is_read || !pace_is_quick(pace) || at_work < atomic_load(&pace->threads);
}
