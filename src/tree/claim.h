/*
 * claim.h: of many processes that want the same new index, one makes it.
 *
 * A claim is a small file beside the place of an index (`NAME.gidx.claim`), made
 * with O_EXCL, which every network filesystem does right; file locks many of them
 * do not. Its owner touches it every few seconds, so that others see it live, and
 * removes it when the index is published, or when it ends by a signal. A claim
 * that is no longer touched is broken by whoever waits for it.
 *
 * It is advice: without it, or with two that claim, every index is still whole.
 *
 * Threads: a process holds one claim at a time; all calls from one thread.
 */
#ifndef GRANARY_TREE_CLAIM_H
#define GRANARY_TREE_CLAIM_H

#include "util/error.h"

struct claim;

/*
 * Claims the index at `index_path`: 0 and *out, which the caller drops; -EEXIST
 * where another process that lives holds it; another negative errno where there
 * can be no claim (the folder cannot be written).
 */
int claim_take(const char *index_path, struct claim **out);

/* Removes it. NULL is nothing. */
void claim_drop(struct claim *claim);

struct claim_wait {
	unsigned poll_ms;   /* between two looks */
	unsigned dead_ms;   /* not touched for so long: its owner is gone */
	unsigned most_ms;   /* of waiting, all in all */
};

#define CLAIM_WAIT_INIT { .poll_ms = 200, .dead_ms = 20 * 1000, .most_ms = 10 * 60 * 1000 }

/*
 * Waits until the claim at `index_path` is gone, dropped or broken: 0; or -ETIMEDOUT.
 */
int claim_await(const char *index_path, const struct claim_wait *wait);

#endif
