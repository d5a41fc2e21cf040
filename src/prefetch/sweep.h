/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.h: which blocks are read in the background, and which of them are done. Private
 * to prefetch/.
 *
 * Each block is given once, and counts as swept once it is done, however it came to be
 * read; so what is swept never exceeds the target, and the sweep is over when the last
 * block is done, not when it is given. A server that dies before that leaves a sweep
 * that runs: the next one goes through it from the beginning, and leaves out what the
 * ledger holds.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_SWEEP_H
#define GRANARY_PREFETCH_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "prefetch/ledger.h"
#include "prefetch/order.h"
#include "prefetch/room.h"
#include "stats/stats.h"

struct sweep {
	const struct tree *tree;
	const struct order *order;
	struct ledger *ledger;
	uint8_t *begun;       /* of each block: it has been given */
	unsigned at_work;     /* blocks that are given, and not done */
	bool is_ours;         /* this server has planned it, or taken it up */
	bool is_pushed;       /* into the page cache */
};

/* 0 or -ENOMEM. All must outlive it. `pushed`: what is swept lies in the page cache. */
int sweep_init(struct sweep *sweep, const struct tree *tree, const struct order *order,
	       struct ledger *ledger, bool pushed);

/* From the first block, as far as there is room. */
void sweep_plan(struct sweep *sweep, const struct room *room);

/* What another server has begun goes on. */
void sweep_take_up(struct sweep *sweep);

/* Is this block part of it, and not given yet? Then it is now. */
bool sweep_give(struct sweep *sweep, uint32_t block);

/* The next block; false: all are given, and when all are done the sweep is over. */
bool sweep_next(struct sweep *sweep, uint32_t *block);

/* A block that was given is done; or is given back, for nobody will do it. */
void sweep_done(struct sweep *sweep, uint32_t block);
void sweep_give_back(struct sweep *sweep, uint32_t block);

/* No more than what is given already, and why. */
void sweep_cut(struct sweep *sweep, enum sweep_limit why);

/* Was the last one, of whatever server, cut because memory was short? */
bool sweep_was_short(void);

/* Are all files of a block held? */
bool sweep_holds(const struct ledger *ledger, const struct order *order, uint32_t block);

#endif
