/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * push_blocks.h: reads a block at once, and pushes its files. Private to prefetch/.
 *
 * Threads: any number at once, each with its own worker.
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
	const struct prefetch_sink *sink; /* NULL: blocks are cached, nothing is pushed */
	_Atomic unsigned demand;   /* reads of requests in progress */
	_Atomic uint64_t asked;    /* reads of requests so far */
	_Atomic int64_t asked_at;  /* time of the last one, milliseconds */
	_Atomic unsigned fetching; /* blocks being read ahead */
	_Atomic uint32_t *passed;  /* by a large file's first block: cached pieces */
	_Atomic bool *is_passed;   /* by block: this piece was pushed or read */
	uint64_t blocks;           /* a file's size from the tree may exceed them */
};

/* One a thread. */
struct push_worker {
	unsigned number; /* used modulo LEDGER_WORKERS */
	char *buffer;    /* PUSH_PIECE bytes, page-aligned; NULL: nothing is pushed */
};

enum { PUSH_PIECE = 1 << 20 }; /* most bytes of one store; whole pages */

/*
 * Counts a request. True for the first few: they have the storage alone. Later requests
 * share it with few reads ahead.
 */
bool pusher_count_request(struct pusher *pusher, int64_t now_ms);

/* Allocates for the blocks of this order: 0 or -ENOMEM. */
int pusher_prepare(struct pusher *pusher, const struct order *order);

/* The sweep starts again: clears all pieces. */
void pusher_clear_pieces(struct pusher *pusher, const struct order *order);

/* Clears the pieces of one file; `first`: its first block. */
void pusher_clear_file(struct pusher *pusher, uint32_t first, uint64_t size);

/*
 * Notes a read of a split file whose first block is `first`. True once the ends of all
 * pieces were pushed or read.
 */
bool pusher_note_read(struct pusher *pusher, uint32_t first, uint64_t offset,
		      uint64_t length, uint64_t size);

/*
 * Pushes a block. True: some of it stays in the dataset's cache instead, because the
 * kernel has no inode of a file or nothing is pushed.
 */
bool pusher_run(struct pusher *pusher, struct push_worker *worker,
		const struct order *order, uint32_t block);

/* Pushes one whole file: false: it could not be. */
bool pusher_push_file(struct pusher *pusher, struct push_worker *worker, uint32_t node);

/* Reads these bytes into the cache; `order` may be NULL. */
void pusher_stage(struct pusher *pusher, const struct order *order,
		  const struct policy_range *range);

#endif
