/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.h: the events of a mount, on their way to the process that writes its trace.
 *
 * A ring in shared memory, of a fixed size. Adding an event never waits: an event that
 * finds no room is dropped, and counted. Servers may die at any place, and the next one goes
 * on with the ring.
 *
 * Threads: trace_add by any number, of one server at a time; trace_take by one process.
 */
#ifndef GRANARY_TRACE_TRACE_H
#define GRANARY_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_kind {
	TRACE_READ,    /* requests of the kernel */
	TRACE_LOOKUP,
	TRACE_GETATTR,
	TRACE_READDIR,
	TRACE_IOCTL,
	TRACE_OTHER,
	TRACE_STORAGE, /* a read of a packed file */
	TRACE_DECODE,  /* a chunk */
	TRACE_PUSH,    /* bytes stored in the page cache before they are asked for */
	TRACE_KINDS
};

struct trace_event {
	uint64_t begin;   /* stats_clock */
	uint64_t took;    /* nanoseconds */
	uint64_t subject; /* the node; of TRACE_STORAGE the address of its source */
	uint64_t offset;
	uint64_t size;    /* bytes that were asked for */
	int64_t result;   /* bytes, or a negative errno */
	uint32_t storage; /* of TRACE_READ: reads of packed files for it, by its thread; of
			     TRACE_STORAGE: 1 if a request waited for it */
	uint16_t kind;    /* enum trace_kind */
	uint16_t unused;
	uint32_t thread;  /* set by trace_add, */
	uint32_t process; /* and this one */
};

struct trace_ring;
extern struct trace_ring *trace_ring;

static inline bool trace_is_on(void)
{
	return trace_ring != NULL;
}

/* Makes the ring, which forked processes share: 0 or -ENOMEM. One thread. */
int trace_share(void);

/* Frees it. One thread. */
void trace_end(void);

/* In a new server, before its threads: events are its own from now on, and there is no gap. */
void trace_begin_server(void);

/*
 * A server that dies may leave an event half done, and those behind it could not be taken:
 * it becomes none. Only while no process adds events.
 */
void trace_close_gaps(void);

/* Adds an event; without a ring that is nothing. */
void trace_add(const struct trace_event *event);

/* In the writer: the next event; false: there is none now. */
bool trace_take(struct trace_event *out);

/* How many were dropped. */
uint64_t trace_dropped(void);

#endif
