/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_context.h: the hint of one read on its way to storage, and the fault on its way
 * back.
 *
 * The caller of a read has the context on its stack; each layer passes it down, also
 * through the cache. If another thread reads the bytes into the cache, a waiting thread
 * gets the error, and only the reading thread's context has the place.
 *
 * Threads: one context is one thread's.
 */
#ifndef GRANARY_SOURCE_READ_CONTEXT_H
#define GRANARY_SOURCE_READ_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* How stored bytes that are not in the cache are read. */
enum read_hint {
	READ_EXACT,  /* no more than is needed */
	READ_BLOCK,  /* with the whole block, if a table has one */
	READ_SHARED, /* as READ_EXACT; a sweep reads the block later, so its pages stay */
	READ_AHEAD,  /* as READ_EXACT; by no reader's request */
	READ_DIRECT, /* as READ_EXACT, and from storage though they are in the cache: decoded
			chunks are dropped, and decoded anew */
};

/* Why a file cannot be read, and where. */
struct read_fault {
	int err;            /* a negative errno; -EBADMSG: invalid bytes */
	bool storage;       /* the packed file could not be read; set by source_read */
	bool mismatch;      /* the checksum differs */
	uint64_t offset;    /* of the file */
	const char *source; /* its path, as long as the source; "the index" */
	uint64_t at;        /* offset in that file; of a mismatch the block's begin */
};

struct read_context {
	enum read_hint hint;
	bool in_chunk; /* the thread decodes a chunk, of which these are the stored bytes */
	bool demand; /* a request waits for the read: histograms count that apart */
	unsigned storage_reads; /* calls of source_read, */
	uint64_t storage_ns;    /* and how long those of a request slept */
	struct read_fault fault;
};

#endif
