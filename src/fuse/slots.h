/*
 * slots.h: requests in memory that outlives the server. Private to fuse/.
 *
 * Every thread of a server receives into a slot of its own; a read that finds all
 * other threads busy is moved to a parked slot and waits there. A slot whose length
 * (the first word of a request) is not 0 holds a request without an answer: when the
 * server dies, its successor answers that first. So the length is 0 before a request
 * is received, and again after the answer.
 *
 * What servers die of is remembered by the name of the request (its operation, its
 * inode, and its arguments, a read's apart: a file is bad as a whole). After two
 * crashes in the middle of it it is condemned: answered with EIO for as long as the
 * mount lives. So it is, but for a minute, after it was under way at many deaths in a
 * row of servers that were killed: then it may be what takes all memory.
 *
 * Threads: each function of the first group by the slot's own thread; of the second
 * by the supervisor, while no server runs.
 */
#ifndef GRANARY_FUSE_SLOTS_H
#define GRANARY_FUSE_SLOTS_H

#include <linux/fuse.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slots;

/* For so many threads, each a slot, and the parked ones: NULL: out of memory. */
struct slots *slots_new(unsigned threads);
void slots_free(struct slots *slots);

unsigned slots_threads(const struct slots *slots);

/* Slots are numbered: first those of the threads, then the parked ones. */
unsigned slots_count(const struct slots *slots);

/* The room to receive into, as large as libfuse wants it; the slot is now empty. */
void *slots_receive(struct slots *slots, unsigned slot);

/* The request that is in a slot, or NULL. */
struct fuse_in_header *slots_request(struct slots *slots, unsigned slot);

/* Does the kernel wait for an answer to it? */
bool slots_wants_answer(const struct fuse_in_header *request);

/* The request has been answered. */
void slots_done(struct slots *slots, unsigned slot);

/* Moves a read to a parked slot: its number, or -1 where all are taken. */
int slots_park(struct slots *slots, unsigned slot);

/* May it not be handled any more? `now`: seconds, of a clock that never goes back. */
bool slots_is_condemned(const struct slots *slots, unsigned slot, int64_t now);

/* Of a condemned one: is this the first time that it is refused? Then it is logged. */
bool slots_first_refusal(struct slots *slots, unsigned slot);

/*
 * The thread that handles a slot is crashing by this signal; slot -1: it handles
 * none. For signal handlers. Only the first of a server's threads counts.
 */
void slots_crashed(struct slots *slots, int slot, int signal);

/* All threads of the server run. */
void slots_set_ready(struct slots *slots);

/* The connection has ended: there will be no more requests. */
void slots_set_ended(struct slots *slots);
bool slots_has_ended(const struct slots *slots);

/* Is there a request without an answer? By the supervisor, at any time: a glance. */
bool slots_under_way(const struct slots *slots);

/* What a server left. */
struct slots_legacy {
	bool ended;
	bool ready;          /* its threads ran */
	int signal;          /* it crashed by this one; 0: not known */
	unsigned requests;   /* without an answer */
	uint64_t answered;   /* by all servers so far */
};

/*
 * To be called once a death, before the next server starts. `grave`: what was under
 * way may be the cause, since memory was short, or it crashed and could not say where.
 */
void slots_bury(struct slots *slots, bool grave, int64_t now, struct slots_legacy *out);

#endif
