/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sink_kit.h: reading ahead, with a sink in the kernel's place. Its threads end with
 * their process: each case is a child.
 */
#ifndef GRANARY_TESTS_SINK_KIT_H
#define GRANARY_TESTS_SINK_KIT_H

#include "dataset/kit.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "dataset/read_ahead.h"
#include "prefetch/prefetch.h"
#include "stats/stats.h"
#include "os/pages.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

enum {
	SMALL = 300, /* files of up to 70 KiB, */
	TINY = 6000, /* of 100 bytes, */
	TINY_BYTES = 100,
	PAGE = 4096,
	PATIENCE_MS = 60000, /* before a test counts as hanging */
};

#define LARGE_BYTES (10 * MIB + 77) /* and one that comes in pieces */

/* A failed check ends the child; what cmocka has for that would go on in it. */
#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			unit_complain(__FILE__, __LINE__, #condition);                   \
			_exit(1);                                                        \
		}                                                                        \
	} while (0)

/* A file of the dataset, and the stores that the sink has got for it. */
struct sink_file {
	uint32_t node, source;
	uint64_t offset, size;
	_Atomic unsigned stored[LARGE_BYTES / PAGE + 1]; /* of each page: how often */
	_Atomic bool there; /* in what would be the page cache */
};

extern struct sink_data {
	struct dataset *dataset;
	unsigned count;			    /* files */
	struct sink_file *files;	    /* shared by all children */
	unsigned file_of[SMALL + TINY + 8]; /* by node */
	uint64_t source_bytes;
} sink_data;

extern struct sink_state {
	_Atomic int answer;
	_Atomic bool blocked;
	_Atomic bool unknown;          /* files have no inodes until they are looked up */
	_Atomic unsigned looked_up;    /* how often they were */
	_Atomic unsigned calls, inside, embedded_most, drops;
	_Atomic unsigned busy_drops;   /* so many more are refused */
	_Atomic uint64_t dropped_from; /* in the file that was dropped last */
	_Atomic uint64_t refused_at; /* this offset of the large file is busy, if not 0 */
	unsigned pause_us;
	uint32_t dies_of; /* the node that kills its server, if not 0 */
} *sink_state;

/* Group set-up: small files and a large one; thousands of tiny ones; two in one place. */
int sink_enter(void **state);
int sink_enter_tiny(void **state);
int sink_enter_overlapping(void **state);
int sink_leave(void **state);

struct sink_file *sink_large_file(void);

/* The bytes of a file in the page cache, and of all files. */
uint64_t sink_pages_of(const struct sink_file *file);
uint64_t sink_all_pages(void);
uint64_t sink_all_bytes(void);

void sink_pause(unsigned us);
int64_t sink_now_ms(void);

/* For the cases of a program; it does not sweep then, not even for a loader. */
extern bool sink_never_sweeps;

/* Bytes of the sources, since the case began. */
uint64_t sink_bytes_read(void);

struct ledger *sink_memory(void);

/* Starts reading ahead in a child. */
struct prefetch *sink_start_after(struct ledger *memory, uint64_t budget,
				  bool windows, bool with_sink, bool crashed);
struct prefetch *sink_start(struct ledger *memory, uint64_t budget, bool windows,
			    bool with_sink);

#define WAIT_FOR(condition)                                                              \
	do {                                                                             \
		int64_t until_ = sink_now_ms() + PATIENCE_MS;                            \
		while (!(condition)) {                                                   \
			CHECK(sink_now_ms() < until_);                                   \
			sink_pause(1000);                                                \
		}                                                                        \
	} while (0)

/* Until nothing is read or stored any more. */
void sink_settle(void);

/* Threads that have nothing to do sleep. */
void sink_check_idle(void);

/* Reads as the server does it. */
void sink_ask(struct prefetch *p, struct sink_file *file, uint64_t offset, size_t length);
void sink_ask_all(struct prefetch *p, struct sink_file *file);

/* Is each page of the file stored so often? */
bool sink_is_stored(const struct sink_file *file, unsigned times);

/* Bytes in the page cache; bytes that were stored; is the sweep over? */
uint64_t sink_pages_there(void);
uint64_t sink_pages_stored(void);
bool sink_is_swept(void);

/* As if nothing had been, in a mount without a shield. */
void sink_forget(void);

/* Runs a case in a child. */
void sink_run(int (*child)(void *));

#define SINK_MAIN(tests, set_up)                                                         \
	int main(void)                                                                   \
	{                                                                                \
		if (stats_share() < 0)                                                   \
			return 1;                                                        \
		return unit_run(tests, COUNT(tests), set_up, sink_leave);                \
	}

#endif
