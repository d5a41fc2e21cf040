/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.h: lets one of many processes make an index that all of them want.
 *
 * A claim is a small file beside the place of an index (`NAME.gidx.claim`), made with
 * O_EXCL, which works on every network filesystem; file locks do not. It names its owner:
 * machine and process. The owner touches it every few seconds, and removes it when the
 * index is published, or TERM, INT or HUP end the owner. After SIGKILL or a power cut a
 * waiting process breaks the claim: at once if the owner is known to be dead (it was in
 * this pid namespace of this machine since this boot), otherwise after a time without a
 * touch. Clocks of two machines are never compared: the waiting process measures by its
 * own clock whether the file's time changes.
 *
 * Claims are advisory: without one, or with two, every index is still whole; a claim
 * broken by mistake costs a second index. A file of that name that does not begin like a
 * claim (a directory, a symlink, another text) is never followed, waited for, or removed.
 *
 * The owner only waits for the child that works, and needs no thread. So the claim ends
 * with the work, even if the child crashes:
 *
 *	claim_acquire(place, &claim);
 *	child = fork();
 *	if (child == 0) {
 *		claim_detach_child(claim);
 *		... make the index, publish it, _exit
 *	}
 *	claim_wait_child(claim, child, CLAIM_TOUCH_MS, &status);
 *	claim_release(claim);
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
	CLAIM_TOUCH_MS = 2000,   /* the owner touches the claim this often */
	CLAIM_OWNER_BYTES = 128,
};

/*
 * Claims the index at `place`, which must outlive the claim: 0 and *out, which the caller
 * drops; -EEXIST: it is claimed already; -EINVAL: another kind of file has the claim's
 * name; another negative errno: no claim is possible (the directory cannot be written).
 *
 * TERM, INT, HUP and CHLD, unless ignored, are blocked in this process until
 * claim_release.
 */
int claim_acquire(const struct place *place, struct claim **out);

/* In a child of the owner: the parent keeps the claim; the signal mask is restored. */
void claim_detach_child(struct claim *claim);

/*
 * Waits for the child and touches the claim every `touch_ms`: 0 and its status (wait(2)),
 * or a negative errno. A signal that ends the process removes the claim and ends the
 * child (child_end) first.
 */
int claim_wait_child(struct claim *claim, pid_t child, unsigned touch_ms, int *status);

/* Removes the claim's file, unless it was replaced. NULL is allowed. */
void claim_release(struct claim *claim);

/* The owner of the claim's file at `place`: 0, or a negative errno, -ENOENT: no claim. */
int claim_uid(const struct place *place, uid_t *out);

struct claim_wait {
	uid_t uid;        /* owner of claims to wait for */
	unsigned poll_ms; /* longest pause between two reads */
	unsigned dead_ms; /* without a touch for so long: the owner is dead */
	unsigned most_ms; /* of the whole wait; claim_await counts it down */
};

#define CLAIM_WAIT_INIT { .poll_ms = 1000, .dead_ms = 20 * 1000, .most_ms = 10 * 60 * 1000 }

/*
 * Waits until the present claim at `place` is dropped or broken: 0, also if a new claim
 * exists by then, and at once if the claim is not `wait->uid`'s; -ETIMEDOUT; or the errno
 * of removing a dead claim. Signals end the process as usual.
 */
int claim_await(const struct place *place, struct claim_wait *wait);

/* The claim's owner, for a message: "HOST (process N)", or "another process". */
const char *claim_owner(const struct place *place, char out[CLAIM_OWNER_BYTES]);

#endif
