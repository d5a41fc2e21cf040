/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/drops.h"

enum {
	BUDGET_SHARE = 16, /* limit of queued bytes: part of the budget, */
	MOST = 16 << 20,   /* but no more than this */
};

void drops_init(struct drops *drops, uint64_t budget)
{
	uint64_t share = budget / BUDGET_SHARE;

	drops->queue.first = drops->queue.count = 0;
	drops->bytes = 0;
	drops->most = share < MOST ? share : MOST;
}

bool drops_add(struct drops *drops, const struct drop *drop)
{
	if (!ring_push(&drops->queue, *drop))
		return false;
	drops->bytes += drop->bytes;
	return true;
}

void drops_requeue(struct drops *drops, const struct drop *drop, int64_t now)
{
	struct drop again = *drop;

	again.since = now;
	again.busy = true;
	drops_add(drops, &again);
}

bool drops_are_full(const struct drops *drops)
{
	/* many small files fill the ring before `bytes` reaches the limit */
	return drops->queue.count > 0 &&
	       (drops->bytes > drops->most || drops->queue.count >= DROPS_ROOM / 2);
}

static bool may_go(const struct drops *drops, const struct drop *drop, int64_t now)
{
	uint64_t behind = drops->bytes - drop->bytes;

	return now - drop->since >= DROPS_DELAY_MS ||
	       (!drop->busy && (behind > drops->most / 2 || drops->queue.count >= DROPS_ROOM / 2));
}

bool drops_pop(struct drops *drops, int64_t now, struct drop *out)
{
	if (!drops_are_full(drops) || !may_go(drops, ring_at(&drops->queue, 0), now))
		return false;
	(void)ring_pop(&drops->queue, out);
	drops->bytes -= out->bytes;
	return true;
}
