/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/neighbours.h"

#include "index/tree.h"
#include "os/pages.h"
#include "stats/stats.h"

enum { VAIN_MOST = 6 };

void neighbours_add(struct neighbours *n, const struct neighbourhood *around)
{
	for (unsigned i = 0; i < n->queue.count; i++) {
		struct neighbourhood *queued = ring_at(&n->queue, i);

		if (queued->stored.source == around->stored.source &&
		    queued->stored.start == around->stored.start) {
			queued->evicted |= around->evicted;
			return;
		}
	}
	if (n->skip > 0 && !around->evicted)
		n->skip--;
	else
		(void)ring_push(&n->queue, *around);
}

void neighbours_pushed(struct neighbours *n, bool any)
{
	n->vain = any ? 0 : n->vain < VAIN_MOST ? n->vain + 1 : VAIN_MOST;
	n->skip = (1U << n->vain) - 1;
}

bool neighbours_pop(struct neighbours *n, struct neighbourhood *out)
{
	return ring_pop(&n->queue, out);
}

/* Does the file begin before this byte of a source? */
static bool begins_before(const struct pusher *p, uint32_t node, uint32_t source, uint64_t end)
{
	struct volume_span stored;

	return dataset_stored(p->dataset, node, 0, UINT64_MAX, &stored, NULL) &&
	       (stored.source < source || (stored.source == source && stored.start < end));
}

/* The position of the first file that begins at this byte, or behind it. */
static uint32_t neighbours_find_first(const struct pusher *p, const struct order *order,
				      const struct volume_span *span)
{
	uint32_t low = 0, high = order->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (begins_before(p, order->nodes[middle], span->source, span->start))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Can the kernel take the file, is there room for it, and is it decoded? */
static bool is_wanted(const struct pusher *p, uint32_t node, bool evicted,
		      const struct room *room)
{
	struct tree_stat st;

	if (!p->sink->knows(p->sink->context, node) ||
	    (!evicted && ledger_is_cached(p->ledger, node)) || room_is_short(room) ||
	    tree_stat(dataset_tree(p->dataset), node, &st) < 0 ||
	    !dataset_is_decoded(p->dataset, node))
		return false;
	if (evicted)
		ledger_mark_evicted(p->ledger, node, st.size);
	return stats_get(COUNTER_resident_bytes) + pages_round_up(st.size) <=
	       room_for_files(room);
}

bool neighbours_push(struct pusher *p, struct push_worker *worker, const struct order *order,
		     const struct neighbourhood *around, const struct room *room)
{
	const struct volume_span *span = &around->stored;
	bool any = false;

	for (uint32_t i = neighbours_find_first(p, order, span); i < order->count; i++) {
		uint32_t node = order->nodes[i];

		if (!begins_before(p, node, span->source, span->end))
			break;
		if (is_wanted(p, node, around->evicted, room))
			any |= pusher_push_file(p, worker, node);
	}
	return any;
}
