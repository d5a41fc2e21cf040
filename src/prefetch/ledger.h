/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ledger.h: files believed to be in the page cache, and the progress of the sweep. The
 * ledger is in shared memory, so it survives the death of a server.
 *
 * The kernel evicts pages at any time without notice. A read of a file that the ledger
 * holds shows that pages of it were evicted.
 *
 * A file's bit and the bytes that are counted (COUNTER_resident_bytes, in whole pages):
 *
 *	step                    bit   counted   by
 *	not held                0     no
 *	mark_cached, first      0     yes       a thread that has put the file there
 *	mark_cached, then       1     yes       the first thread to set the bit; a second one
 *	                                        takes its bytes off again
 *	mark_evicted, first     0     yes       the first thread to clear the bit
 *	mark_evicted, then      0     no
 *
 * So the bytes of all files with a bit are counted at any moment; between steps the count
 * is exactly these and `part`. A server that dies within a step leaves too many, and
 * ledger_clear during a step of another thread leaves too few.
 *
 *	sweep     position, end              next
 *	WAITING   0, 0                       ledger_begin_sweep: RUNNING
 *	RUNNING   position <= end            ledger_end_sweep: DONE; ledger_cut_sweep: end = position
 *	DONE      position <= end            ledger_begin_sweep, by the next server
 *
 * A block that is claimed while the sweep is cut may have the number `end` itself.
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
struct tree;

/* NULL: out of memory. */
struct ledger *ledger_new(uint32_t nodes);
void ledger_free(struct ledger *ledger);

/* Files. A change returns true if the bit was different; `bytes` is the file's size. */
bool ledger_is_cached(const struct ledger *ledger, uint32_t node);
bool ledger_mark_cached(struct ledger *ledger, uint32_t node, uint64_t bytes);
bool ledger_mark_evicted(struct ledger *ledger, uint32_t node, uint64_t bytes);

/* Sets the bytes held of a partly held file, which has no bit; one file at a time. */
void ledger_set_cached_part(struct ledger *ledger, uint64_t bytes);

/* Clears all files. */
void ledger_clear(struct ledger *ledger);

/* The sweep: it covers the blocks before `end`; `position` is the next one. */
enum sweep_state ledger_state(const struct ledger *ledger);
uint32_t ledger_end(const struct ledger *ledger);
void ledger_begin_sweep(struct ledger *ledger, uint32_t end);
void ledger_end_sweep(struct ledger *ledger);

/* Claims the next block; false: none is left. The sweep runs until ledger_end_sweep. */
bool ledger_next_block(struct ledger *ledger, uint32_t *block);

/* Ends the sweep's range at `position`: no further block. */
void ledger_cut_sweep(struct ledger *ledger);

/* Records the file that a worker pushes; ledger_end_file clears it. */
void ledger_begin_file(struct ledger *ledger, unsigned worker, uint32_t node);
void ledger_end_file(struct ledger *ledger, unsigned worker);

/* Returns and clears the file of a dead server's worker; false: none. */
bool ledger_pop_suspect(struct ledger *ledger, unsigned worker, uint32_t *node);

/*
 * Marks the files that the last server's threads pushed. After a crash they count as
 * held, so they are skipped; after a kill they are pushed again.
 */
void ledger_mark_suspects(struct ledger *ledger, const struct tree *tree, bool crashed);

/* Counts crashes of prefetch threads; for signal handlers. */
void ledger_note_crash(struct ledger *ledger);
unsigned ledger_crashes(const struct ledger *ledger);

#endif
