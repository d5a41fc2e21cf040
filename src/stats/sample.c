/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/sample.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/render.h"

/* Parsing. */

enum { KEY_BYTES = 64, DEPTH_MOST = 4 };

/* The position in the text, and its keys. */
struct sample_place {
	const char *at;
	char keys[DEPTH_MOST][KEY_BYTES]; /* keys[depth]: the last key at that depth */
	unsigned depth;
	uint64_t version; /* 0: not yet read */
};

static void set_histogram(struct stats_sample *out, const char *name, const char *field,
			  uint64_t value)
{
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		if (strcmp(histogram_infos[i].name, name) != 0)
			continue;
		if (strcmp(field, "count") == 0)
			out->histograms[i].count = value;
		else if (strcmp(field, "sum_ns") == 0)
			out->histograms[i].sum_ns = value;
		else if (strcmp(field, "demand_ns") == 0)
			out->histograms[i].demand_ns = value;
	}
}

static void set_counter(struct stats_sample *out, const char *name, uint64_t value)
{
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (strcmp(counter_infos[i].name, name) == 0)
			out->counters[i] = value;
	}
}

static void set_number(struct sample_place *p, struct stats_sample *out, uint64_t value)
{
	const char *top = p->keys[1];

	if (p->depth == 1 && strcmp(top, "granaryfs") == 0)
		p->version = value;
	else if (p->depth == 1 && strcmp(top, "clock_ns") == 0)
		out->clock_ns = value;
	else if (p->depth == 2 && (strcmp(top, "counters") == 0 || strcmp(top, "gauges") == 0))
		set_counter(out, p->keys[2], value);
	else if (p->depth == 3 && strcmp(top, "histograms") == 0)
		set_histogram(out, p->keys[2], p->keys[3], value);
}

/* Parses a string without escapes, as render_json writes: a key until the next. */
static bool parse_string(struct sample_place *p)
{
	size_t n = strcspn(++p->at, "\"\\\n");

	if (p->at[n] != '"' || p->depth == 0)
		return false;
	snprintf(p->keys[p->depth], KEY_BYTES, "%.*s", (int)n, p->at);
	p->at += n + 1;
	p->at += strspn(p->at, " ");
	if (*p->at == ':') {
		p->at++;
		p->at += strspn(p->at, " ");
		if (*p->at == '"') { /* a string value is ignored */
			n = strcspn(++p->at, "\"\\\n");
			p->at += n + (p->at[n] == '"');
		}
	}
	return true;
}

static bool sample_parse_number(struct sample_place *p, struct stats_sample *out)
{
	char *end;

	errno = 0;
	set_number(p, out, strtoull(p->at, &end, 10));
	p->at = end;
	return errno == 0;
}

/* Parses a token: false if render_json does not write it. */
static bool parse_token(struct sample_place *p, struct stats_sample *out)
{
	switch (*p->at) {
	case '{':
		p->at++;
		return ++p->depth < DEPTH_MOST;
	case '}':
		p->at++;
		return p->depth-- > 0;
	case '[': /* buckets: only numbers */
		p->at += strcspn(p->at, "]");
		return *p->at++ == ']';
	case '"':
		return parse_string(p);
	case ',':
	case ' ':
	case '\n':
		p->at++;
		return true;
	default:
		return isdigit((unsigned char)*p->at) && sample_parse_number(p, out);
	}
}

int sample_parse(const char *text, struct stats_sample *out)
{
	struct sample_place place = { .at = text };

	memset(out, 0, sizeof(*out));
	while (*place.at) {
		if (!parse_token(&place, out))
			return -EBADMSG;
	}
	if (place.depth != 0 || place.version == 0)
		return -EBADMSG;
	return place.version == RENDER_VERSION ? 0 : -EPROTO;
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
