/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample.h: parses a mount's stats.json, and compares two samples: rates, and the
 * reader's bottleneck.
 *
 * Pure: no files, no clock. Threads: any.
 */
#ifndef GRANARY_STATS_SAMPLE_H
#define GRANARY_STATS_SAMPLE_H

#include <stdint.h>

#include "stats/stats.h"

struct stats_sample {
	uint64_t clock_ns; /* of the monotonic clock */
	uint64_t counters[COUNTER_COUNT];
	struct {
		uint64_t count, sum_ns, demand_ns;
	} histograms[HISTOGRAM_COUNT];
};

/*
 * Parses a text of render_json. Missing keys are 0 and unknown ones are ignored, so the
 * two programs may differ in version. -EBADMSG: another text. -EPROTO: a version whose
 * keys have another meaning.
 */
int sample_parse(const char *text, struct stats_sample *out);

/* The same from the cells themselves, as they are now. */
void sample_take(const struct stats_cells *cells, struct stats_sample *out);

/* The bottleneck of the reader. */
enum bound { BOUND_LOADER, BOUND_STORAGE, BOUND_DECODE, BOUND_DAEMON };

/* Rates between two samples, a second. */
struct rates {
	double seconds;         /* between the samples */
	double requests;        /* of readers: without `forget` and .granaryfs */
	double reads;           /* of these, reads */
	double source_reads;
	double source_bytes;
	double pushed_bytes;
	double decoded_bytes;
	double hit_share;       /* of chunks found in the cache; < 0: no request */
	/* Readers that waited for the daemon, on average, and the cause: */
	double waiting;
	double storage;         /* seconds of waiting a second */
	double decode;
	double daemon;
	uint64_t stuck;         /* requests that wait while none is answered */
	enum counter most;      /* the most frequent request */
	enum bound bound;
};

/* `before` is the older one. Counters that went back count as 0. */
void sample_rates(const struct stats_sample *before, const struct stats_sample *now,
		  struct rates *out);

/* The bottleneck as a word: "storage". */
const char *bound_word(enum bound bound);

enum { BOUND_TEXT_BYTES = 512 };

/* Writes one sentence into `out`, of BOUND_TEXT_BYTES, and returns it. */
char *bound_sentence(const struct rates *rates, char *out);

#endif
