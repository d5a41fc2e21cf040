/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.h: decides from past reads what to read ahead. Pure: no clock, threads or I/O.
 *
 * A *stream* reads sequentially: a large file from its beginning, or small files in
 * stored order. It gets a window of read-ahead that doubles while the stream continues.
 * All windows together are bounded by the memory there is, since bytes evicted before
 * their read are read twice.
 *
 * Private to prefetch/. Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_POLICY_H
#define GRANARY_PREFETCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "prefetch/epoch.h"

enum {
	POLICY_STREAMS = 16,
	POLICY_STREAM_MS = 200,     /* a stream is active so long after a read */
	POLICY_WINDOW_LEAST = 2 << 20,
	POLICY_WINDOW_MOST = 32 << 20,
	POLICY_IDLE_MS = 10000,     /* after this its window is given up */
	POLICY_EDGES = 2 << 20,     /* blocks at the edges of a window */
};

/* Bytes of a packed file. */
struct policy_range {
	uint32_t source;
	uint64_t start, end;
};

/* A read that missed the kernel's page cache. */
struct policy_read {
	int64_t now_ms;
	uint32_t node;
	struct policy_range stored;
	uint64_t limit;   /* end of a large file; 0: others may follow */
};

struct policy_stream {
	uint32_t source;
	uint64_t next;     /* expected next read; 0: unused */
	uint64_t fetched;  /* end of the window already read */
	uint64_t limit;    /* limit of the window; 0: none */
	unsigned hits;     /* continuations */
	uint64_t used;     /* last read, counted in reads */
	int64_t now_ms;    /* time of the last read */
};

struct policy {
	bool windows;      /* windows are enabled */
	uint64_t window_most;
	uint64_t room;     /* for all windows */
	int64_t now_ms;    /* time of the last read */
	struct policy_stream streams[POLICY_STREAMS];
	uint64_t reads;
	struct epoch epoch;
};

/* `nodes`: of the tree. */
void policy_init(struct policy *policy, bool windows, uint64_t window_most,
		 uint32_t nodes);

/* Sets the limit of all windows together, in bytes; without a call there is none. */
void policy_set_room(struct policy *policy, uint64_t bytes);

void policy_note(struct policy *policy, const struct policy_read *read);

/* The next bytes to read ahead for a stream, at most `most`: false: none. */
bool policy_window(struct policy *policy, uint64_t most, struct policy_range *out);

/* Has a stream a window at this time? */
bool policy_has_window(const struct policy *policy);

/* Is a process reading a large file from front to back? `now_ms` is as in policy_read. */
bool policy_streams(const struct policy *policy, int64_t now_ms);

/* Does an epoch read all of the dataset, so that a sweep pays? */
bool policy_sees_epoch(const struct policy *policy);

#endif
