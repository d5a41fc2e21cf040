/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * repeat_sweep.h: whether a sweep that is over is worth another one. Private to prefetch/.
 *
 * There are two reasons. It was cut because memory was short, and now it is not: then the
 * rest is read, and what is held stays. Or the kernel has let go of files, and to read
 * these when they were asked for has cost as much as another sweep would: then all is
 * read anew. Whatever comes of it then, no more than twice is paid of what would have
 * been best. Each time the next one has to wait twice as long. (A bound that counts files
 * is no good: a few hundred of 7,500 had all of it read anew, in the middle of an epoch.)
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_REPEAT_SWEEP_H
#define GRANARY_PREFETCH_REPEAT_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

/* All 0 at first. */
struct again {
	int64_t begun_ms; /* the last sweep */
	unsigned times;   /* how many there were */
	uint64_t lost;    /* since then, in bytes that a sweep would read in that time */
};

enum again_how { AGAIN_NOT, AGAIN_THE_REST, AGAIN_ALL };

void again_begin(struct again *again, int64_t now_ms);

/* So many bytes were asked for that were held. */
void again_lost(struct again *again, uint64_t bytes);

/* `target`: bytes of the last sweep; `was_cut`: memory was short. */
enum again_how again_look(const struct again *again, int64_t now_ms, bool was_cut,
			  uint64_t target);

#endif
