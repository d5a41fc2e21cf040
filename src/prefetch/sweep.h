/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.h: the blocks to read in the background, and which are done. Private to
 * prefetch/.
 *
 * Each block is claimed once, and counts as swept when it is done. So the swept bytes
 * never exceed the target, and the sweep ends when its last block is done. A server that
 * dies leaves a running sweep; the next server starts at the first block and skips blocks
 * that the ledger holds.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_SWEEP_H
#define GRANARY_PREFETCH_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "prefetch/ledger.h"
#include "prefetch/order.h"
#include "prefetch/repeat_sweep.h"
#include "prefetch/room.h"
#include "stats/stats.h"

struct sweep {
	const struct tree *tree;
	const struct order *order;
	struct ledger *ledger;
	uint8_t *begun;       /* of each block: claimed */
	unsigned at_work;     /* blocks claimed and not done */
	bool is_ours;         /* planned or resumed by this server */
	bool is_pushed;       /* into the page cache */
};

/* 0 or -ENOMEM. The arguments must outlive it. `pushed`: blocks go to the page cache. */
int sweep_init(struct sweep *sweep, const struct tree *tree, const struct order *order,
	       struct ledger *ledger, bool pushed);

/* Plans a sweep from the first block, as far as the room suffices. */
void sweep_plan(struct sweep *sweep, const struct room *room);

/* Resumes the sweep of another server. */
void sweep_resume(struct sweep *sweep);

/* Claims this block; false: not part of the sweep, or already claimed. */
bool sweep_claim_block(struct sweep *sweep, uint32_t block);

/* Claims the next block. False: all are claimed; the sweep ends once all are done. */
bool sweep_next(struct sweep *sweep, uint32_t *block);

/* Ends a claimed block: done, or not read and free to be claimed again. */
void sweep_done(struct sweep *sweep, uint32_t block);
void sweep_unclaim_block(struct sweep *sweep, uint32_t block);

/* Ends the sweep behind the claimed blocks, and records the reason. */
void sweep_cut(struct sweep *sweep, enum sweep_limit why);

/* The sweep is done: is it to be repeated? Then the ledger is cleared for it. */
bool sweep_should_repeat(struct sweep *sweep, struct repeat_sweep *again,
			 const struct room *room);

/* Are all files of a block held? */
bool sweep_block_is_cached(const struct ledger *ledger, const struct order *order,
			   uint32_t block);

#endif
