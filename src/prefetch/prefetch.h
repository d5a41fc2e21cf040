/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefetch.h: reads ahead into blocks of the packed files, and through a sink into the
 * kernel's page cache.
 *
 * Prefetch threads hold no lock during a read or a call of the sink, since a sink may
 * wait for a page that a request thread must fill (the kernel's fuse_notify_store). A
 * request thread waits for a prefetch thread only if that reads the same block. Demand
 * comes first: while a request waits for storage, few blocks are read ahead.
 *
 * Pushed files and the sweep's progress are in shared memory, so the next server
 * continues. If a server crashed, the file that its thread pushed is skipped from then
 * on; if it was killed, the file is pushed again.
 */
#ifndef GRANARY_PREFETCH_PREFETCH_H
#define GRANARY_PREFETCH_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataset/dataset.h"

struct prefetch;
struct ledger; /* of pushed files, shared by the servers */

/* The destination of bytes read ahead. Called by prefetch threads only. */
struct prefetch_sink {
	void *context;

	/*
	 * Stores a piece of a file; begins at a page, and ends at one or at the end of
	 * file: 0; -ENOENT: the kernel has no inode of the file; -EBUSY: it is being
	 * read; another errno: impossible.
	 */
	int (*store)(void *context, uint32_t node, uint64_t offset, const void *bytes,
		     size_t length);

	/*
	 * Drops the file's pages from this offset on, a multiple of a page: 0; -EBUSY: it
	 * is being read; or another errno.
	 */
	int (*drop)(void *context, uint32_t node, uint64_t from);

	/* Has the kernel an inode of the file? By the time of the answer it may not. */
	bool (*knows)(void *context, uint32_t node);

	/*
	 * Has the kernel make inodes of all files that it does not know, as far as it can.
	 * May take minutes.
	 */
	void (*look_up)(void *context);
};

struct prefetch_config {
	bool windows;           /* read ahead of streams */
	bool sweep;             /* read all of the dataset, once an epoch is seen */
	uint64_t budget;        /* bytes: page cache, dataset's cache, kernel's inodes */
	unsigned threads;
	bool crashed;           /* the last server crashed: skip its files */
	const struct prefetch_sink *sink; /* NULL: no push; outlives it */
};

/* Before the first server is forked. NULL: out of memory. */
struct ledger *prefetch_memory_new(const struct dataset *dataset);
void prefetch_memory_free(struct ledger *ledger);

/* In a server: starts its threads, which end with the process. 0 or a negative errno. */
int prefetch_start(struct dataset *dataset, struct ledger *ledger,
		   const struct prefetch_config *config, struct prefetch **out);

/*
 * Announces a sweep that begins at once, with an estimate of its bytes. Its plan replaces
 * the estimate.
 */
void prefetch_announce(const struct dataset *dataset, uint64_t budget);

/* Starts the sweep without an epoch. */
void prefetch_sweep(struct prefetch *prefetch);

/*
 * Around each read that was asked for, by any thread; `prefetch` may be NULL. The first
 * says how it is to be done. `direct`: the reader goes past the page cache (O_DIRECT): it
 * says nothing of what that holds.
 */
enum read_hint prefetch_read_begins(struct prefetch *prefetch, uint32_t node);
void prefetch_read_ends(struct prefetch *prefetch, uint32_t node, uint64_t offset,
			size_t length, bool direct, const struct read_context *context);

/* Notes a crash if the calling thread reads ahead. For signal handlers. */
void prefetch_note_crash(void);

#endif
