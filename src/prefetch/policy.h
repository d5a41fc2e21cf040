/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.h: from what was asked for to what is read ahead. Pure: no clock, no threads,
 * no I/O; history in, work out.
 *
 * Two things are recognised. A *stream* reads on where it was: a large file from its
 * beginning, or small files in the order in which they are stored. It gets a window
 * ahead of it that doubles as long as it goes on; and all windows together are bounded
 * by the room there is, for what is dropped before it is read is read twice. A *loader* reads many files that are
 * nowhere near each other: then all of the dataset will be read, and a sweep pays. Who
 * runs `find`, and looks into ten files, is neither.
 *
 * Private to prefetch/. Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_POLICY_H
#define GRANARY_PREFETCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	POLICY_STREAMS = 16,
	POLICY_RECENT = 64,         /* files that are remembered */
	POLICY_LOADER_FILES = 32,   /* different ones, */
	POLICY_LOADER_MS = 10000,   /* within so long: a loader */
	POLICY_STREAM_MS = 200,     /* after its last read a stream is still one */
	POLICY_WINDOW_LEAST = 2 << 20,
	POLICY_WINDOW_MOST = 32 << 20,
	POLICY_REST_MS = 10000,     /* after that nothing is kept for a stream */
	POLICY_EDGES = 2 << 20,     /* blocks that a window begins and ends in */
};

/* Bytes of a packed file. */
struct policy_range {
	uint32_t source;
	uint64_t start, end;
};

/* A read that the kernel's page cache could not answer. */
struct policy_read {
	int64_t now_ms;
	uint32_t node;
	struct policy_range stored;
	uint64_t limit;   /* a large file ends here; 0: others may follow */
};

struct policy_stream {
	uint32_t source;
	uint64_t next;     /* where it reads on; 0: unused */
	uint64_t fetched;  /* read ahead up to here */
	uint64_t limit;    /* and never further; 0: no matter */
	unsigned hits;     /* how often it has gone on */
	uint64_t used;     /* when, in reads */
	int64_t now_ms;    /* and by the clock: its last one */
};

struct policy {
	bool windows;      /* may be asked for */
	uint64_t window_most;
	uint64_t room;     /* for all windows */
	int64_t now_ms;    /* of the last read */
	struct policy_stream streams[POLICY_STREAMS];
	struct { uint32_t node; int64_t when; bool set; } recent[POLICY_RECENT];
	unsigned recent_at;
	uint64_t reads;
	bool loader;       /* seen */
};

void policy_init(struct policy *policy, bool windows, uint64_t window_most);

/* Bytes that all windows may hold together, from now on; at first there is no bound. */
void policy_have_room(struct policy *policy, uint64_t bytes);

void policy_note(struct policy *policy, const struct policy_read *read);

/* The next bytes that a stream is going to want, `most` at most: false: none do. */
bool policy_window(struct policy *policy, uint64_t most, struct policy_range *out);

/*
 * Is somebody in the middle of a large file, which he reads from front to back? `now_ms`
 * is the time, as in policy_read.
 */
bool policy_streams(const struct policy *policy, int64_t now_ms);

/* Has a loader been seen? */
bool policy_sees_loader(const struct policy *policy);

#endif
