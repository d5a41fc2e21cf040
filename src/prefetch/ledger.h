/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ledger.h: what the kernel's page cache is held to have, and how far the sweep is. In
 * shared memory, so that the next server knows what the one that died has done.
 *
 * The kernel may let go of pages at any time and says nothing: a file that is asked for
 * although the ledger holds it has been let go of.
 *
 * A file's bit and the bytes that are counted (COUNTER_resident_bytes, in whole pages):
 *
 *	step                    bit   counted   by
 *	not held                0     no
 *	ledger_hold, first      0     yes       a thread that has put the file there
 *	ledger_hold, then       1     yes       the first thread to set the bit; a second one
 *	                                        takes its bytes off again
 *	ledger_release, first   0     yes       the first thread to clear the bit
 *	ledger_release, then    0     no
 *
 * So at any moment at least the bytes of the files with a bit are counted, and when nobody
 * is in the middle of a step exactly these, and `part`. A server that dies in the middle
 * leaves too many; ledger_clear while others hold or release leaves too few.
 *
 *	sweep     position, end              next
 *	WAITING   0, 0                       ledger_begin_sweep: RUNNING
 *	RUNNING   position <= end            ledger_end_sweep: DONE; ledger_cut_sweep: end = position
 *	DONE      position <= end            ledger_begin_sweep, by the next server
 *
 * A block that is given out while the sweep is cut may have the number `end` itself.
 *
 * Private to prefetch/. Threads and processes: any number at once, without a lock.
 */
#ifndef GRANARY_PREFETCH_LEDGER_H
#define GRANARY_PREFETCH_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LEDGER_WORKERS = 64 };

enum sweep_state { SWEEP_WAITING, SWEEP_RUNNING, SWEEP_DONE };

struct ledger;

/* NULL: out of memory. */
struct ledger *ledger_new(uint32_t nodes);
void ledger_free(struct ledger *ledger);

/* Files. Each change is true if it was not so before; `bytes` is the file's size. */
bool ledger_holds(const struct ledger *ledger, uint32_t node);
bool ledger_hold(struct ledger *ledger, uint32_t node, uint64_t bytes);
bool ledger_release(struct ledger *ledger, uint32_t node, uint64_t bytes);

/* Of a file that is held in part, which no bit says: the bytes; one file at a time. */
void ledger_hold_part(struct ledger *ledger, uint64_t bytes);

/* Nothing is held any more. */
void ledger_clear(struct ledger *ledger);

/* The sweep: blocks before `end` are to be held, and `position` is the next one. */
enum sweep_state ledger_state(const struct ledger *ledger);
uint32_t ledger_end(const struct ledger *ledger);
void ledger_begin_sweep(struct ledger *ledger, uint32_t end);
void ledger_end_sweep(struct ledger *ledger);

/* The next block, or false: that was all. It runs until it is ended. */
bool ledger_next_block(struct ledger *ledger, uint32_t *block);

/* No block is given any more. */
void ledger_cut_sweep(struct ledger *ledger);

/* What a thread is at, of the file with this node; and nothing any more. */
void ledger_begin_file(struct ledger *ledger, unsigned worker, uint32_t node);
void ledger_end_file(struct ledger *ledger, unsigned worker);

/* The file that a thread of a dead server was at, once: false: none. */
bool ledger_take_suspect(struct ledger *ledger, unsigned worker, uint32_t *node);

/* A thread that reads ahead has crashed; for signal handlers. How often. */
void ledger_note_crash(struct ledger *ledger);
unsigned ledger_crashes(const struct ledger *ledger);

/*
 * For tests: NULL, or which rule of the two tables above is broken. `quiet`: nobody is in the
 * middle of a step; `bytes` then says how large a file is.
 */
typedef uint64_t ledger_bytes(void *context, uint32_t node);
const char *ledger_check(const struct ledger *ledger, bool quiet, ledger_bytes *bytes,
			 void *context);

#endif
