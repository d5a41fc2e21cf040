/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_context.h: what one read takes along on its way to storage, and brings back.
 *
 * The caller of a read has it on its stack; each layer passes it down, and so does what
 * fills the cache. A thread that gets bytes which another thread reads into the cache
 * learns the error, but not the place: only the other thread's context has that.
 *
 * Threads: one context is one thread's.
 */
#ifndef GRANARY_SOURCE_READ_CONTEXT_H
#define GRANARY_SOURCE_READ_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* How stored bytes are read that are not in the cache. */
enum read_hint {
	READ_EXACT,  /* no more than is needed */
	READ_BLOCK,  /* with their whole block, if a table has one: others will want the rest */
	READ_AHEAD,  /* as READ_EXACT; nobody has asked for them, or will want them again */
	READ_DIRECT, /* as READ_EXACT, and from storage though they are in the cache: decoded
			chunks are dropped, and decoded anew */
};

/* Why a file cannot be read, and where. */
struct read_fault {
	int err;            /* a negative errno; -EBADMSG: the bytes make no sense */
	bool storage;       /* the packed file could not be read: source_read sets it */
	bool mismatch;      /* it was read, and its checksum is another */
	uint64_t offset;    /* of the file */
	const char *source; /* the packed file's path, which lives as long as it; "the index", */
	uint64_t at;        /* and where in it that is; of a mismatch, where the block begins */
};

struct read_context {
	enum read_hint hint;
	bool demand; /* a request waits for the read: histograms count that apart */
	unsigned storage_reads; /* calls of source_read, */
	uint64_t storage_ns;    /* and how long those of a request slept */
	struct read_fault fault;
};

#endif
