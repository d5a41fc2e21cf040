/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slots_state.h: what slots are made of, for slots.c and its tests.
 *
 * A slot's words, and how they go on:
 *
 *	state      length   begun   by
 *	EMPTY      0        any     slots_receive, slots_done, slots_park (of the slot it left)
 *	RECEIVED   > 0      false   the kernel, into a thread's slot; slots_park, into a parked one
 *	HANDLED    > 0      true    slots_begin, by the thread that handles it
 *
 * `begun` is set back by slots_receive, slots_park (of the slot it moves to) and
 * slots_note_death. A parked slot holds reads only. `burden`, `alone` and `grave` of a
 * slot grow by slots_note_death alone, while it is HANDLED; they go with a request that
 * is parked.
 *
 * A suspect with a name is one request's; no two have one name, nor one order of entry.
 * One that is condemned makes any_condemned true, which stays so.
 */
#ifndef GRANARY_FUSE_SLOTS_STATE_H
#define GRANARY_FUSE_SLOTS_STATE_H

#include <linux/fuse.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/invariant.h"
#include "fuse/slots.h"

enum {
	PARKED = 1024,
	PARKED_BYTES = sizeof(struct fuse_in_header) + sizeof(struct fuse_read_in),
	SUSPECTS = 64,
	CRASHES_MOST = 2,
	SUSPECT_AT = 10,      /* deaths without a known cause */
	ALONE_MOST = 10,      /* of them while nothing else was handled, */
	WEIGHT_IF_GRAVE = 5,  /* but some weigh more, */
	WEIGHT_ALONE = 2,     /* less so where they alone condemn: who starved nobody knows, */
	GRAVE_MOST = 8,       /* and of those so many, whatever else was handled */
	SENTENCE_SECONDS = 60, /* for these */
	IDLE_TIMES = 4,       /* as long as the longest that one was handled alone, */
	IDLE_LEAST_MS = 20,   /* nothing is handled before the next is */
	IDLE_MOST_MS = 10000,
	CACHE_LINE = 64,
};

/* The state of a slot besides the request. */
struct account {
	alignas(CACHE_LINE) _Atomic uint64_t answered;
	_Atomic bool begun;      /* a thread handles the request in it */
	_Atomic uint32_t burden; /* of the deaths in the middle of it, */
	_Atomic uint32_t grave;  /* so many of the grave ones, */
	_Atomic uint32_t alone;  /* and of those while it was handled alone */
};

enum { NOBODY = -1, IDLE = -2 }; /* instead of a slot */

/* A request that servers died of; recorded before the next server is forked. */
struct suspect {
	uint64_t name;      /* 0: free */
	uint32_t crashes;
	uint32_t order;     /* of entry: the oldest one makes room */
	int64_t condemned_until; /* seconds */
};

/* All memory that servers write: the supervisor does not trust it. */
struct shared {
	_Atomic bool ready, ended;
	_Atomic int crash_signal; /* 0, or the first signal of a crash */
	_Atomic int crash_slot;
	_Atomic int alone;        /* a slot, NOBODY or IDLE, */
	_Atomic int64_t alone_since; /* milliseconds */
	_Atomic uint32_t refused[SUSPECTS]; /* the `order` of the suspect that was refused */
	alignas(CACHE_LINE) unsigned char parked[PARKED][PARKED_BYTES];
	struct account accounts[];
};

struct slots {
	uint64_t magic; /* HANDLE_SLOTS */
	uint64_t seed; /* of the names of requests, whose arguments users choose */
	unsigned threads;
	size_t request_bytes;     /* a multiple of the page size */
	struct shared *shared;    /* a mapping, */
	size_t shared_bytes;
	unsigned char *requests;  /* and in it, page-aligned */
	bool any_condemned;
	unsigned idle_ms;         /* wanted of the next server */
	uint32_t suspects_seen;
	struct suspect suspects[SUSPECTS];
};

static inline void *slots_place(const struct slots *slots, unsigned slot)
{
	if (slot < slots->threads)
		return slots->requests + slot * slots->request_bytes;
	return slots->shared->parked[slot - slots->threads];
}

/*
 * The word that is not 0 with a request. The kernel writes it too, but never while
 * another thread reads.
 */
static inline _Atomic uint32_t *slots_length(const struct slots *slots, unsigned slot)
{
	return slots_place(slots, slot);
}

static inline struct account *slots_account(const struct slots *slots, unsigned slot)
{
	return &slots->shared->accounts[slot];
}

/* 0: none, or none that can be. */
static inline uint32_t slots_request_length(const struct slots *slots, unsigned slot)
{
	size_t room = slot < slots->threads ? slots->request_bytes : PARKED_BYTES;
	uint32_t length = atomic_load(slots_length(slots, slot));

	return length < sizeof(struct fuse_in_header) || length > room ? 0 : length;
}

#endif
