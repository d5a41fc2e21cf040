/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/policy.h"

enum {
	GAP_MOST = 32 << 10,    /* headers and padding; more would match by chance */
	AHEAD_MOST = 512 << 10, /* the kernel's read-ahead of a large file */
	BEHIND_MOST = 2 << 20,  /* its requests come in any order */
	HITS_LEAST = 2,         /* before a window opens */
	HITS_MOST = 16,
};

void policy_init(struct policy *p, bool windows, uint64_t window_most, uint32_t nodes)
{
	*p = (struct policy){ .windows = windows, .window_most = window_most,
			      .room = UINT64_MAX };
	if (p->window_most > POLICY_WINDOW_MOST)
		p->window_most = POLICY_WINDOW_MOST;
	epoch_init(&p->epoch, nodes);
}

void policy_set_room(struct policy *p, uint64_t bytes)
{
	p->room = bytes;
}

bool policy_sees_epoch(const struct policy *p)
{
	return epoch_is_seen(&p->epoch);
}

/* Streams. */

static bool continues(const struct policy_stream *s, const struct policy_read *read)
{
	const struct policy_range *r = &read->stored;
	bool same = read->limit && read->limit == s->limit;
	uint64_t ahead = same ? AHEAD_MOST : GAP_MOST, behind = same ? BEHIND_MOST : 0;

	return s->next && s->source == r->source && r->start <= s->next + ahead &&
	       r->start + behind >= s->next;
}

static struct policy_stream *find_stream(struct policy *p, const struct policy_read *read)
{
	struct policy_stream *oldest = &p->streams[0];

	for (unsigned i = 0; i < POLICY_STREAMS; i++) {
		struct policy_stream *s = &p->streams[i];

		if (continues(s, read))
			return s;
		if (s->used < oldest->used)
			oldest = s;
	}
	*oldest = (struct policy_stream){ .source = read->stored.source };
	return oldest;
}

void policy_note(struct policy *p, const struct policy_read *read)
{
	const struct policy_range *r = &read->stored;
	struct policy_stream *s = find_stream(p, read);

	epoch_note(&p->epoch, read->node, s->next != 0, read->now_ms);
	if (s->next && r->start >= s->next && s->hits < HITS_MOST)
		s->hits++;
	if (r->end > s->next)
		s->next = r->end;
	if (s->fetched < s->next)
		s->fetched = s->next;
	s->limit = read->limit;
	s->used = ++p->reads;
	p->now_ms = s->now_ms = read->now_ms;
}

bool policy_streams(const struct policy *p, int64_t now_ms)
{
	for (unsigned i = 0; i < POLICY_STREAMS; i++) {
		const struct policy_stream *s = &p->streams[i];

		if (s->hits >= HITS_LEAST && s->next < s->limit &&
		    now_ms - s->now_ms <= POLICY_STREAM_MS)
			return true;
	}
	return false;
}

static uint64_t window_of(const struct policy *p, const struct policy_stream *s)
{
	uint64_t window = (uint64_t)POLICY_WINDOW_LEAST << (s->hits - HITS_LEAST);

	return window < p->window_most ? window : p->window_most;
}

/* Has the stream a window, or may it open one? */
static bool is_live(const struct policy *p, const struct policy_stream *s)
{
	return s->next && s->hits >= HITS_LEAST && p->now_ms - s->now_ms <= POLICY_IDLE_MS;
}

bool policy_has_window(const struct policy *p)
{
	for (unsigned i = 0; p->windows && i < POLICY_STREAMS; i++) {
		if (is_live(p, &p->streams[i]))
			return true;
	}
	return false;
}

/* Bytes in the windows of the other streams; `live`: all streams. */
static uint64_t held_by_others(const struct policy *p, const struct policy_stream *stream,
			       unsigned *live)
{
	uint64_t sum = 0;

	*live = 1;
	for (unsigned i = 0; i < POLICY_STREAMS; i++) {
		const struct policy_stream *s = &p->streams[i];

		if (s == stream || !is_live(p, s))
			continue;
		*live += 1;
		if (s->fetched > s->next)
			sum += s->fetched - s->next + POLICY_EDGES;
	}
	return sum;
}

static uint64_t policy_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A stream's window. If the room does not suffice for all streams, some have a small
 * window and the others none: otherwise each would lose its bytes before it reads them.
 */
static uint64_t share_room(const struct policy *p, const struct policy_stream *s)
{
	uint64_t window = window_of(p, s), taken, share, left;
	unsigned live;

	taken = held_by_others(p, s, &live) + POLICY_EDGES;
	left = p->room > taken ? p->room - taken : 0;
	share = p->room / live;
	share = share > POLICY_EDGES + POLICY_WINDOW_LEAST ? share - POLICY_EDGES :
							     POLICY_WINDOW_LEAST;
	left = policy_least(left, share);
	/* not in small parts, each of which would be a read */
	return left < policy_least(window, POLICY_WINDOW_LEAST) / 4
		       ? 0
		       : policy_least(window, left);
}

static uint64_t window_end(const struct policy_stream *s, uint64_t window)
{
	uint64_t end = s->next + window;

	return s->limit && s->limit < end ? s->limit : end;
}

bool policy_window(struct policy *p, uint64_t most, struct policy_range *out)
{
	for (unsigned i = 0; p->windows && i < POLICY_STREAMS; i++) {
		struct policy_stream *s = &p->streams[i];
		uint64_t window, end;

		if (!is_live(p, s))
			continue;
		window = share_room(p, s);
		end = window_end(s, window);
		if (s->fetched >= end ||
		    (end - s->fetched < window / 4 && end != s->limit))
			continue;
		if (end - s->fetched > most)
			end = s->fetched + most;
		*out = (struct policy_range){ s->source, s->fetched, end };
		s->fetched = end;
		return true;
	}
	return false;
}
