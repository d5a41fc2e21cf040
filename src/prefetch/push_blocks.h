/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * push_blocks.h: reads a block in one piece, and passes on the files in it. Private to
 * prefetch/.
 *
 * Threads: any number at once, each with a worker of its own.
 */
#ifndef GRANARY_PREFETCH_PUSH_BLOCKS_H
#define GRANARY_PREFETCH_PUSH_BLOCKS_H

#include "prefetch/ledger.h"
#include "prefetch/order.h"
#include "prefetch/policy.h"
#include "prefetch/prefetch.h"

struct pusher {
	struct dataset *dataset;
	struct ledger *ledger;
	const struct prefetch_sink *sink; /* NULL: blocks are kept, nothing is pushed */
	_Atomic unsigned demand;   /* reads that somebody waits for */
	_Atomic uint64_t asked;    /* all that there have been */
	_Atomic int64_t asked_at;  /* the last one; milliseconds */
	_Atomic unsigned fetching; /* reads ahead */
	_Atomic uint32_t *passed;  /* by a large file's first block: how many of its pieces */
	_Atomic bool *is_passed;   /* by block: this piece; it was pushed, or read */
	uint64_t blocks;           /* that there are, whatever a file's size says by now */
};

/* A thread's own. */
struct push_worker {
	unsigned number; /* below LEDGER_WORKERS */
	char *buffer;    /* PUSH_PIECE bytes, page-aligned; NULL: nothing is pushed */
};

enum { PUSH_PIECE = 1 << 20 }; /* what is stored at a time, at most; whole pages */

/*
 * Somebody asks. While the first few files are read, he has storage to himself: true;
 * later only few reads ahead are made beside his.
 */
bool pusher_is_asked(struct pusher *pusher, int64_t now_ms);

/* For the blocks of this order: 0 or -ENOMEM. */
int pusher_prepare(struct pusher *pusher, const struct order *order);

/* The sweep begins anew: no piece has been passed on. */
void pusher_forget(struct pusher *pusher, const struct order *order);

/* The same of one file, of so many blocks from this one on. */
void pusher_forget_file(struct pusher *pusher, uint32_t first, uint64_t size);

/*
 * Bytes of a file were read that comes in pieces, and begins in this block: true once
 * the ends of all pieces have been, pushed or read.
 */
bool pusher_note_read(struct pusher *pusher, uint32_t first, uint64_t offset,
		      uint64_t length, uint64_t size);

/*
 * True: some of it was kept in the dataset's cache instead, since the kernel does not
 * know the files yet, or nothing is pushed at all.
 */
bool pusher_run(struct pusher *pusher, struct push_worker *worker,
		const struct order *order, uint32_t block);

/* Has these bytes in the cache; `order`: NULL as long as there is none. */
void pusher_stage(struct pusher *pusher, const struct order *order,
		  const struct policy_range *range);

#endif
