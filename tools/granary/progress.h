/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.h: one line on standard error about a long command at work.
 *
 *	struct progress p = { .subject = "packing", .unit = "files" };
 *	progress_start(&p, request->quiet);
 *	... atomic_fetch_add(&p.bytes, n), from any thread ...
 *	progress_stop(&p);
 *
 * A command of several parts changes the subject (in `look`); speed and time begin anew.
 * Where no total is known there is no share of it either.
 *
 * On a terminal the line is redrawn a few times a second, from half a second on, and
 * taken away at the end. Elsewhere it is printed now and then, if the command wants
 * that: its standard error may be a job's log.
 *
 * Threads: the counters may be changed by any; the functions are called by one.
 */
#ifndef GRANARY_TOOL_PROGRESS_H
#define GRANARY_TOOL_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;

struct progress {
	/* set before progress_start, and constant after */
	const char *subject; /* "packing", a mount point; `look` may change it */
	const char *unit;    /* of the count: "files"; NULL: no count */
	const char *reached; /* "warm": names the bytes so far; may be NULL */
	unsigned wanted;     /* percent at which it is done; 0: 100 */
	bool terminal_only;  /* no plain lines */
	/* called before each line: for a command whose counters are elsewhere */
	void (*look)(struct progress *p, const void *context);
	const void *context;

	_Atomic uint64_t bytes, bytes_total; /* a total of 0 is not known */
	_Atomic uint64_t count, count_total;

	struct { /* progress.c's own */
		struct pool *thread;
		_Atomic bool done;
		const char *subject; /* of the last line */
		bool quiet, terminal, drawn;
		long long begin, line_at; /* bounded_now */
		uint64_t begin_bytes, begin_count;
		double line_percent;
	} state;
};

/* Shows the line from a thread of its own, until progress_stop. Nothing if `quiet`. */
void progress_start(struct progress *p, bool quiet);
void progress_stop(struct progress *p);

/*
 * The same without a thread, for a command that polls anyway: shows the line if it is
 * time. progress_end leaves a terminal's last line as it is.
 */
void progress_begin(struct progress *p, bool quiet);
void progress_show(struct progress *p);
void progress_end(struct progress *p);

/* True: print colours to this terminal. False with NO_COLOR or TERM=dumb. */
bool progress_colours(int fd);

#endif
