/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.h: of many processes that want the same new index, one makes it.
 *
 * A claim is a small file beside the place of an index (`NAME.gidx.claim`), made
 * with O_EXCL, which every network filesystem does right; file locks many of them
 * do not. It says which process on which machine made it. That process touches it
 * every few seconds, so that others see that it lives, and removes it when the index
 * is published, or when it is ended by TERM, INT or HUP. What SIGKILL or a power cut
 * leaves is broken by whoever waits for it: at once if the owner can be seen to be
 * dead (it was in this pid namespace of this machine since this boot), otherwise
 * when it has not been touched for a while. Times of two machines are never
 * compared: who waits looks whether the file's time changes, by his own clock.
 *
 * It is advice: without it, or with two that claim, every index is still whole, and
 * a claim that is broken by mistake costs a second index, no more. A file of that
 * name that does not begin like a claim (a folder, a symlink, somebody's text) is
 * never followed, waited for, or removed.
 *
 * The owner is a process of its own, which only waits for the one that works. So
 * the claim ends with the work, whatever that dies of, and there is no thread:
 *
 *	claim_take(place, &claim);
 *	child = fork();
 *	if (child == 0) {
 *		claim_leave(claim);
 *		... make the index, publish it, _exit
 *	}
 *	claim_keep(claim, child, CLAIM_TOUCH_MS, &status);
 *	claim_drop(claim);
 *
 * Threads: a process that holds a claim has one thread.
 */
#ifndef GRANARY_PLACE_CLAIM_H
#define GRANARY_PLACE_CLAIM_H

#include <stddef.h>
#include <sys/types.h>

#include "os/place.h"

struct claim;

enum {
	CLAIM_TOUCH_MS = 2000,   /* how often an owner shows that it lives */
	CLAIM_OWNER_BYTES = 128,
};

/*
 * Claims the index at `place`, which outlives the claim: 0 and *out, which the caller
 * drops; -EEXIST where there is a claim already; -EINVAL where something else has its
 * name; another negative errno where there can be no claim (the folder cannot be written).
 *
 * Until it is dropped TERM, INT, HUP and CHLD are blocked in this process, but for
 * those that are ignored.
 */
int claim_take(const struct place *place, struct claim **out);

/* In a child of the owner: the claim stays the parent's; signals are as before. */
void claim_leave(struct claim *claim);

/*
 * Waits for the child to end and touches the claim every `touch_ms` meanwhile: 0
 * and its status (wait(2)), or a negative errno. A signal to end removes the claim,
 * ends the child (child_end), and then this process.
 */
int claim_keep(struct claim *claim, pid_t child, unsigned touch_ms, int *status);

/* Removes it, if it is still this one. NULL is nothing. */
void claim_drop(struct claim *claim);

/* Whose file the claim at `place` is: 0, or a negative errno, -ENOENT where there is none. */
int claim_uid(const struct place *place, uid_t *out);

struct claim_wait {
	uid_t uid;        /* whose claim is worth the wait */
	unsigned poll_ms; /* between two looks at most; the first come sooner */
	unsigned dead_ms; /* not touched for so long: its owner is gone */
	unsigned most_ms; /* of waiting, all in all: claim_await counts it down */
};

#define CLAIM_WAIT_INIT { .poll_ms = 1000, .dead_ms = 20 * 1000, .most_ms = 10 * 60 * 1000 }

/*
 * Waits until the claim that is at `place` now is gone, dropped or broken: 0,
 * although there may be another by then, and at once where it is not `wait->uid`'s;
 * -ETIMEDOUT; or the negative errno why a dead one cannot be removed. Signals end the
 * process as ever.
 */
int claim_await(const struct place *place, struct claim_wait *wait);

/* Who holds the claim, for a sentence: "HOST (process N)", or "another process". */
const char *claim_owner(const struct place *place, char out[CLAIM_OWNER_BYTES]);

#endif
