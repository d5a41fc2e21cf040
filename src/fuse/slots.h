/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slots.h: requests in memory that outlives the server. Private to fuse/.
 *
 * Every thread of a server receives into a slot of its own; a read that finds all
 * other threads busy is moved to a parked slot and waits there. A slot whose length
 * (the first word of a request) is not 0 holds a request without an answer: when the
 * server dies, its successor answers that first. So the length is 0 before a request
 * is received, and again after the answer.
 *
 * Crashes are recorded by the request's name: its operation, inode and arguments (of a
 * read only the inode: a file is bad as a whole). A request in the middle of two crashes
 * is condemned: it is answered with EIO for as long as the mount lives.
 *
 * A kill has no known cause: the request may take all memory, or another process kills.
 * So a request that was being handled at several kills is a suspect, which the next
 * server handles alone. Only deaths during that count, and only if the next server lived
 * for much longer while it was idle; then the request is condemned for a minute. So it is
 * after eight deaths that are grave (see slots_note_death), whatever else was handled. If
 * a server dies while it is idle, another process kills: all suspects are cleared.
 *
 * Crash marks and the limit of bad deaths do not replace suspects: without them a request
 * that gets each server killed is never answered, and its reader hangs (killed, killed_alone
 * and killed_late in tests/mount/crashes.sh). That one kill marks nothing is what
 * slow_storage there, and kills.sh, want.
 *
 * Threads: calls about one slot by the thread that has its request; slots_note_death by
 * the supervisor, while no server runs.
 */
#ifndef GRANARY_FUSE_SLOTS_H
#define GRANARY_FUSE_SLOTS_H

#include <linux/fuse.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slots;

/*
 * The largest request, whose header has a part of its own. The limit is ours and not the
 * kernel's, which counts in pages: of 64 KiB, say, or of as many as fs.fuse.max_pages_limit
 * allows.
 */
enum {
	SLOTS_DATA_MOST = 1 << 20,
	SLOTS_HEADER_BYTES = 4096,
	SLOTS_REQUEST_MOST = SLOTS_DATA_MOST + SLOTS_HEADER_BYTES,
};

/* For so many threads, each a slot, and the parked ones: NULL: out of memory. */
struct slots *slots_new(unsigned threads);
void slots_free(struct slots *slots);

unsigned slots_threads(const struct slots *slots);

/* Slots are numbered: first those of the threads, then the parked ones. */
unsigned slots_count(const struct slots *slots);

/* SLOTS_REQUEST_MOST bytes to receive into; the slot is now empty. */
void *slots_receive(struct slots *slots, unsigned slot);

/* The request that is in a slot, or NULL. */
struct fuse_in_header *slots_request(struct slots *slots, unsigned slot);

/* Does the kernel wait for an answer to the request? */
bool slots_needs_answer(const struct fuse_in_header *request);

/* A thread begins to handle the request: deaths may be its fault from now on. */
void slots_begin(struct slots *slots, unsigned slot);

/* The request has been answered. */
void slots_done(struct slots *slots, unsigned slot);

/* Moves a read to a parked slot: its number, or -1 where all are taken. */
int slots_park(struct slots *slots, unsigned slot);

/* Is the request condemned? `now`: seconds of a monotonic clock. */
bool slots_is_condemned(const struct slots *slots, unsigned slot, int64_t now);

/* Is a condemned request refused for the first time? Then the refusal is logged. */
bool slots_first_refusal(struct slots *slots, unsigned slot);

/*
 * The thread that handles a slot is crashing by this signal; slot -1: it handles
 * none. For signal handlers. Only the first of a server's threads counts.
 */
void slots_crashed(struct slots *slots, int slot, int signal);

/* Was the request handled at so many deaths that it must be handled alone? */
bool slots_is_suspect(const struct slots *slots, unsigned slot);

/*
 * Milliseconds without requests before suspects are handled, to see whether another
 * process kills: from slots_idle_begins to slots_alone_ends.
 */
unsigned slots_idle_required(const struct slots *slots);
void slots_idle_begins(struct slots *slots);

/* Only this request is handled, until slots_alone_ends. */
void slots_alone_begins(struct slots *slots, unsigned slot);
void slots_alone_ends(struct slots *slots);

/* Clears a suspect: it takes long, and no server has died of it. */
void slots_clear_suspect(struct slots *slots, unsigned slot);

/* All threads of the server run. */
void slots_set_ready(struct slots *slots);

/* The connection has ended: there will be no more requests. */
void slots_set_ended(struct slots *slots);
bool slots_has_ended(const struct slots *slots);

/* Is there a request without an answer? The supervisor may call it at any time. */
bool slots_pending(const struct slots *slots);

/* The state that a dead server left. */
struct slots_death {
	bool ended;
	bool ready;          /* its threads ran */
	int signal;          /* it crashed by this one; 0: not known */
	unsigned requests;   /* without an answer */
	uint64_t answered;   /* by all servers so far */
};

/*
 * Call it once a death, before the next server starts. `grave`: a request under way may
 * be the cause: memory was short, or no handler could report the crash.
 */
void slots_note_death(struct slots *slots, bool grave, int64_t now,
		      struct slots_death *out);

#endif
