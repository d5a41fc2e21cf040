/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * repeat_sweep.h: decides whether to repeat a finished sweep. Private to prefetch/.
 *
 * There are two reasons. Memory was short and is not any more: the rest is read. Or the
 * kernel evicted files, and rereading them on demand has cost as much as another sweep:
 * all is read again. So the total cost is at most twice the optimum, and each wait
 * doubles. (A bound on the number of files fails: a few hundred of 7,500 repeated the
 * whole sweep within an epoch.)
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_REPEAT_SWEEP_H
#define GRANARY_PREFETCH_REPEAT_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

/* Initially zero. */
struct repeat_sweep {
	int64_t begun_ms; /* begin of the last sweep */
	unsigned times;   /* number of sweeps */
	uint64_t lost;    /* rereads since, in bytes that a sweep reads in that time */
};

enum sweep_repeat { SWEEP_REPEAT_NONE, SWEEP_REPEAT_REMAINDER, SWEEP_REPEAT_ALL };

void repeat_sweep_begin(struct repeat_sweep *again, int64_t now_ms);

/* Adds a read of `bytes` that the ledger held. */
void repeat_sweep_add_reread(struct repeat_sweep *again, uint64_t bytes);

/* `target`: bytes of the last sweep; `was_cut`: for lack of memory. */
enum sweep_repeat repeat_sweep_decide(const struct repeat_sweep *again, int64_t now_ms,
				      bool was_cut, uint64_t target);

#endif
