/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample.h: what a mount's stats.json said at one moment, and what two of them say of
 * the time between: how much came from where, and what the reader waits for.
 *
 * Pure: no files, no clock. Threads: any.
 */
#ifndef GRANARY_STATS_SAMPLE_H
#define GRANARY_STATS_SAMPLE_H

#include <stdint.h>

#include "stats/stats.h"

struct sample {
	uint64_t clock_ns; /* of the machine's clock that only goes forward */
	uint64_t counters[COUNTER_COUNT];
	struct {
		uint64_t count, sum_ns, demand_ns;
	} histograms[HISTOGRAM_COUNT];
};

/*
 * Reads a text that render_json has written; what it lacks is 0, and what is not known
 * here is passed over, so that the two programs need not be of one version. -EBADMSG:
 * it is something else. -EPROTO: of a version whose keys mean something else.
 */
int sample_parse(const char *text, struct sample *out);

/* What bounds the reader. */
enum bound { BOUND_LOADER, BOUND_STORAGE, BOUND_DECODE, BOUND_DAEMON };

/* What happened between two samples, a second. */
struct rates {
	double seconds;         /* between them */
	double requests;        /* of readers: neither `forget` nor about .granaryfs */
	double reads;           /* of these, reads */
	double source_reads;
	double source_bytes;
	double pushed_bytes;
	double decoded_bytes;
	double hit_share;       /* of chunks asked for, held by the cache; < 0: none was */
	/* How many readers, on average, waited for the daemon, and for what: */
	double waiting;
	double storage;         /* seconds of waiting a second */
	double decode;
	double daemon;
	uint64_t stuck;         /* requests that wait while none at all is answered */
	enum counter most;      /* the kind of request that there were most of */
	enum bound bound;
};

/* `before` is the older one; where counters went back, the mount is another one. */
void sample_rates(const struct sample *before, const struct sample *now,
		  struct rates *out);

/* "storage", for programs. */
const char *bound_word(enum bound bound);

enum { BOUND_TEXT_BYTES = 512 };

/* One sentence about it; returns `out`, which holds BOUND_TEXT_BYTES. */
char *bound_sentence(const struct rates *rates, char *out);

#endif
