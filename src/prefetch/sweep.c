/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "index/tree.h"
#include "os/bounded.h"
#include "os/pages.h"
#include "prefetch/prefetch.h"

/* The last page of a file is half full on average. */
void prefetch_announce(const struct dataset *dataset, uint64_t budget)
{
	uint64_t most = budget - memory_cache_part(budget), bytes;
	struct dataset_info info;

	if (dataset_info(dataset, &info) < 0)
		return;
	bytes = info.summary.bytes ? info.summary.bytes + info.summary.files * (pages_size() / 2) : 0;
	stats_set(COUNTER_sweep_target, bytes < most ? bytes : most);
	stats_set(COUNTER_sweep_limit, bytes ? LIMIT_NONE : LIMIT_EMPTY);
}

int sweep_init(struct sweep *s, const struct tree *tree, const struct order *order,
	       struct ledger *ledger, bool pushed)
{
	*s = (struct sweep){ .tree = tree, .order = order, .ledger = ledger,
			     .is_pushed = pushed };
	s->begun = calloc((size_t)order->block_count + 1, sizeof(*s->begun));
	return s->begun ? 0 : -ENOMEM;
}

/* Bytes of a block's files in the page cache. */
static uint64_t pages_of(const struct sweep *s, uint32_t block)
{
	const struct block_files *files = &s->order->files[block];
	uint64_t sum = 0;

	if (files->count == 0)
		return s->order->blocks[block].end - s->order->blocks[block].start;
	for (uint32_t i = 0; i < files->count; i++) {
		struct tree_stat st;

		if (tree_stat(s->tree, s->order->nodes[files->first + i], &st) == 0)
			sum += pages_round_up(st.size);
	}
	return sum;
}

/* Counts the pushed part of a large file if the sweep ends within it. */
static void set_part(struct sweep *s)
{
	const struct block_files *files = s->order->files;
	uint32_t end = ledger_end(s->ledger);
	bool within = end > 0 && end < s->order->block_count && files[end].count == 0 &&
		      files[end].first == files[end - 1].first;

	if (s->is_pushed)
		ledger_set_cached_part(s->ledger, within ? order_piece(s->order, end) :
				       0);
}

void sweep_plan(struct sweep *s, const struct room *room)
{
	uint64_t sum = 0, files = 0;
	uint32_t end = 0;

	for (; end < s->order->block_count; end++) {
		uint64_t pages = pages_of(s, end);

		files += s->order->files[end].count;
		if (!room_has_for(room, files, sum + pages))
			break;
		sum += pages;
	}
	memset(s->begun, 0, s->order->block_count);
	s->is_ours = true;
	stats_set(COUNTER_swept_bytes, 0);
	stats_set(COUNTER_sweep_target, sum);
	stats_set(COUNTER_sweep_limit, end < s->order->block_count ? LIMIT_BUDGET :
									LIMIT_NONE);
	ledger_begin_sweep(s->ledger, end);
	set_part(s);
}

void sweep_resume(struct sweep *s)
{
	uint32_t end = ledger_end(s->ledger);
	uint64_t target = 0, swept = 0;

	for (uint32_t i = 0; i < end && i < s->order->block_count; i++) {
		uint64_t pages = pages_of(s, i);

		target += pages;
		s->begun[i] = sweep_block_is_cached(s->ledger, s->order, i);
		swept += s->begun[i] ? pages : 0;
	}
	s->is_ours = true;
	stats_set(COUNTER_swept_bytes, swept);
	stats_set(COUNTER_sweep_target, target);
	ledger_begin_sweep(s->ledger, end);
}

bool sweep_claim_block(struct sweep *s, uint32_t block)
{
	if (ledger_state(s->ledger) != SWEEP_RUNNING || !s->is_ours ||
	    block >= ledger_end(s->ledger) || block >= s->order->block_count ||
	    s->begun[block])
		return false;
	s->begun[block] = true;
	s->at_work++;
	return true;
}

bool sweep_next(struct sweep *s, uint32_t *block)
{
	if (ledger_state(s->ledger) != SWEEP_RUNNING)
		return false;
	while (ledger_next_block(s->ledger, block)) {
		if (sweep_claim_block(s, *block))
			return true;
	}
	if (s->at_work == 0) {
		/* no more can be swept */
		stats_set(COUNTER_sweep_target, stats_get(COUNTER_swept_bytes));
		ledger_end_sweep(s->ledger);
	}
	return false;
}

void sweep_done(struct sweep *s, uint32_t block)
{
	stats_add(COUNTER_swept_bytes, pages_of(s, block));
	s->at_work--;
}

void sweep_unclaim_block(struct sweep *s, uint32_t block)
{
	s->begun[block] = false;
	s->at_work--;
}

void sweep_cut(struct sweep *s, enum sweep_limit why)
{
	stats_set(COUNTER_sweep_limit, why);
	ledger_cut_sweep(s->ledger);
	set_part(s);
}

bool sweep_should_repeat(struct sweep *s, struct repeat_sweep *again,
			 const struct room *room)
{
	bool was_short = stats_get(COUNTER_sweep_limit) == LIMIT_MEMORY;
	enum sweep_repeat how = repeat_sweep_decide(again, bounded_now(), was_short,
						    stats_get(COUNTER_sweep_target));

	if (how == SWEEP_REPEAT_NONE || room_is_short(room))
		return false;
	if (how == SWEEP_REPEAT_ALL)
		ledger_clear(s->ledger);
	log_info(how == SWEEP_REPEAT_ALL ? "all is read ahead anew: the kernel has let "
		 "go of much" :
				    "the rest is read ahead: memory is not short any more");
	return true;
}

bool sweep_block_is_cached(const struct ledger *ledger, const struct order *order,
			   uint32_t block)
{
	const struct block_files *files = &order->files[block];

	for (uint32_t i = 0; i < files->count || i == 0; i++) {
		if (!ledger_is_cached(ledger, order->nodes[files->first + i]))
			return false;
	}
	return true;
}
