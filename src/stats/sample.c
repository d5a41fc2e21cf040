/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/sample.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pyjson.h"
#include "stats/render.h"

/* Parsing. */

/* A member of an object that is a number; without one *out stays. *bad: it is too large. */
static void find_number(const struct pyjson_value *object, const char *name, uint64_t *out,
			bool *bad)
{
	struct pyjson_value number;

	if (!pyjson_find(object, name, strlen(name), &number) ||
	    number.kind != PYJSON_INTEGER)
		return;
	errno = 0;
	*out = strtoull(number.text, NULL, 10);
	*bad |= errno != 0;
}

static void find_counters(const struct pyjson_value *root, const char *kind,
			  struct stats_sample *out, bool *bad)
{
	struct pyjson_value object;

	if (!pyjson_find(root, kind, strlen(kind), &object))
		return;
	for (int i = 0; i < COUNTER_COUNT; i++)
		find_number(&object, counter_infos[i].name, &out->counters[i], bad);
}

static void find_histograms(const struct pyjson_value *root, struct stats_sample *out,
			    bool *bad)
{
	struct pyjson_value all, one;

	if (!pyjson_find(root, "histograms", strlen("histograms"), &all))
		return;
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		const char *name = histogram_infos[i].name;

		if (!pyjson_find(&all, name, strlen(name), &one))
			continue;
		find_number(&one, "count", &out->histograms[i].count, bad);
		find_number(&one, "sum_ns", &out->histograms[i].sum_ns, bad);
		find_number(&one, "demand_ns", &out->histograms[i].demand_ns, bad);
	}
}

int sample_parse(const char *text, struct stats_sample *out)
{
	CLEANUP(pyjson_end) struct pyjson json;
	struct pyjson_fault fault;
	uint64_t version = 0;
	bool bad = false;
	int err = pyjson_begin(&json, text, strlen(text), &fault);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	find_number(&json.root, "granaryfs", &version, &bad);
	find_number(&json.root, "clock_ns", &out->clock_ns, &bad);
	find_counters(&json.root, "counters", out, &bad);
	find_counters(&json.root, "gauges", out, &bad);
	find_histograms(&json.root, out, &bad);
	if (bad || version == 0)
		return -EBADMSG;
	return version == RENDER_VERSION ? 0 : -EPROTO;
}

void sample_take(const struct stats_cells *cells, struct stats_sample *out)
{
	out->clock_ns = stats_clock();
	for (int i = 0; i < COUNTER_COUNT; i++)
		out->counters[i] = stats_load(&cells->counters[i]);
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		const struct histogram_cells *from = &cells->histograms[i];

		out->histograms[i].count = stats_times(from);
		out->histograms[i].sum_ns = stats_load(&from->sum_ns);
		out->histograms[i].demand_ns = stats_load(&from->demand_ns);
	}
}

/* Rates. */

/*
 * The cost of a request besides the daemon's work: two context switches. A reader that
 * waits less than a quarter of its time would not be noticeably faster without requests.
 */
static const double ROUND_TRIP = 30e-6, NOTICEABLE = 0.25;

/* The interval between two samples. */
struct span {
	const struct stats_sample *before, *now;
	double seconds;
};

static double sample_difference(uint64_t before, uint64_t now)
{
	return now > before ? (double)(now - before) : 0;
}

static double sample_rate(const struct span *s, enum counter counter)
{
	return sample_difference(s->before->counters[counter],
				 s->now->counters[counter]) /
	       s->seconds;
}

/* Busy seconds a second. */
static double spent(const struct span *s, enum histogram h)
{
	return sample_difference(s->before->histograms[h].sum_ns,
				 s->now->histograms[h].sum_ns) /
	       1e9 / s->seconds;
}

static double spent_on_demand(const struct span *s, enum histogram h)
{
	return sample_difference(s->before->histograms[h].demand_ns,
				 s->now->histograms[h].demand_ns) / 1e9 / s->seconds;
}

/* Requests that wait while no request at all has ended since `before`. */
static uint64_t count_stuck(const struct span *s)
{
	uint64_t before = s->before->counters[COUNTER_requests_under_way];
	uint64_t now = s->now->counters[COUNTER_requests_under_way];

	for (int i = HISTOGRAM_request_lookup; i <= HISTOGRAM_request_other; i++) {
		if (s->before->histograms[i].count != s->now->histograms[i].count)
			return 0;
	}
	return before < now ? before : now;
}

static void sample_count_requests(const struct span *s, struct rates *out)
{
	double most = 0;

	out->most = COUNTER_fuse_read;
	for (int i = 0; i < COUNTER_COUNT; i++) {
		double n = sample_rate(s, (enum counter)i);

		if (strncmp(counter_infos[i].name, "fuse_", 5) != 0 ||
		    i == COUNTER_fuse_forget || i == COUNTER_fuse_control)
			continue;
		out->requests += n;
		if (n > most) {
			most = n;
			out->most = (enum counter)i;
		}
	}
}

/*
 * A request's time is reads of storage, decoding, waits for another thread that does
 * either, and the daemon's own work, which is the remainder.
 */
static void divide_waiting(const struct span *s, struct rates *out)
{
	double source = spent(s, HISTOGRAM_source_read), decode = spent(s, HISTOGRAM_decode);
	double others = spent_on_demand(s, HISTOGRAM_chunk_wait);
	double share = source + decode > 0 ? source / (source + decode) : 1;
	double answering = 0;

	for (int i = HISTOGRAM_request_lookup; i <= HISTOGRAM_request_other; i++)
		answering += spent(s, (enum histogram)i);
	out->storage = spent_on_demand(s, HISTOGRAM_source_read) + others * share;
	out->decode = spent_on_demand(s, HISTOGRAM_decode) + others * (1 - share);
	out->daemon = answering - out->storage - out->decode;
	if (out->daemon < 0) /* work is counted when it ends */
		out->daemon = 0;
	out->daemon += out->requests * ROUND_TRIP;
	out->waiting = out->storage + out->decode + out->daemon;
}

static enum bound find_bound(const struct rates *r)
{
	if (r->stuck > 0)
		return BOUND_STORAGE;
	if (r->waiting < NOTICEABLE)
		return BOUND_LOADER;
	if (r->storage >= r->decode && r->storage >= r->daemon)
		return BOUND_STORAGE;
	return r->decode >= r->daemon ? BOUND_DECODE : BOUND_DAEMON;
}

void sample_rates(const struct stats_sample *before, const struct stats_sample *now,
		  struct rates *out)
{
	struct span s = {before, now,
			 sample_difference(before->clock_ns, now->clock_ns) / 1e9};
	double hits, misses;

	*out = (struct rates){ .seconds = s.seconds, .hit_share = -1,
			       .most = COUNTER_fuse_read };
	if (s.seconds <= 0)
		return;
	sample_count_requests(&s, out);
	out->reads = sample_rate(&s, COUNTER_fuse_read);
	out->source_reads = sample_rate(&s, COUNTER_source_reads);
	out->source_bytes = sample_rate(&s, COUNTER_source_read_bytes);
	out->pushed_bytes = sample_rate(&s, COUNTER_pushed_bytes);
	out->decoded_bytes = sample_rate(&s, COUNTER_chunk_bytes);
	hits = sample_rate(&s, COUNTER_cache_hits);
	misses = sample_rate(&s, COUNTER_cache_misses);
	if (hits + misses > 0)
		out->hit_share = hits / (hits + misses);
	divide_waiting(&s, out);
	out->stuck = count_stuck(&s);
	out->bound = find_bound(out);
}
