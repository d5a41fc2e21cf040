/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefetch.h: has in memory what is going to be asked for: in blocks of the packed
 * files, and through a sink in the kernel's page cache.
 *
 * Its threads do nothing else, and hold no lock over a call of the sink or a read: a
 * sink may wait for a page that a request thread has to fill (reference: the kernel's
 * fuse_notify_store), and no request thread waits for a prefetch thread, but for one
 * that is reading the very block. What is asked for goes first: while a request waits
 * for storage, few reads ahead are under way.
 *
 * What has been put into the page cache, and how far the sweep is, lies in shared
 * memory: a server that takes over from one that died goes on from there. A file that
 * its thread was at when the server crashed is left out from then on; when it was killed
 * that is pushed anew.
 */
#ifndef GRANARY_PREFETCH_PREFETCH_H
#define GRANARY_PREFETCH_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataset/dataset.h"

struct prefetch;
struct prefetch_memory; /* what servers share */

/* Where bytes go that nobody has asked for yet. Called by prefetch threads only. */
struct prefetch_sink {
	void *context;

	/*
	 * A piece of a file, from a multiple of a page to such a one or to the end: 0;
	 * -ENOENT: the kernel does not know the file yet; -EBUSY: it is being read;
	 * another errno: not possible.
	 */
	int (*store)(void *context, uint32_t node, uint64_t offset, const void *bytes,
		     size_t length);

	/*
	 * Out of the page cache with it, from this multiple of a page on: 0; -EBUSY: it is
	 * being read; or another errno.
	 */
	int (*drop)(void *context, uint32_t node, uint64_t from);
};

struct prefetch_config {
	bool windows;           /* ahead of sequential readers */
	bool sweep;             /* all of it, once a loader is seen */
	uint64_t budget;        /* bytes: page cache, own cache, and the kernel's inodes */
	unsigned threads;
	bool crashed;           /* the server before: what it was at is left out */
	const struct prefetch_sink *sink; /* NULL: nothing is pushed; outlives it */
};

/* Before the first server is forked. NULL: out of memory. */
struct prefetch_memory *prefetch_memory_new(const struct dataset *dataset);
void prefetch_memory_free(struct prefetch_memory *memory);

/* In a server: starts its threads, which end with the process. 0 or a negative errno. */
int prefetch_start(struct dataset *dataset, struct prefetch_memory *memory,
		   const struct prefetch_config *config, struct prefetch **out);

/*
 * Before anybody looks: there is going to be a sweep at once, about so far. What it really
 * is to read is known once it has begun.
 */
void prefetch_announce(const struct dataset *dataset, uint64_t budget);

/* No loader needs to be seen: the sweep begins now. */
void prefetch_sweep(struct prefetch *prefetch);

/*
 * Around each read that was asked for, by any thread; `prefetch` may be NULL. The first
 * says how it is to be done. `direct`: the reader goes past the page cache (O_DIRECT): it
 * says nothing of what that holds.
 */
enum read_hint prefetch_read_begins(struct prefetch *prefetch, uint32_t node);
void prefetch_read_ends(struct prefetch *prefetch, uint32_t node, uint64_t offset,
			size_t length, bool direct);

/* The calling thread crashes: was it one that reads ahead? For signal handlers. */
void prefetch_note_crash(void);

#endif
