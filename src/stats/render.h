/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * render.h: the counters as text, for people, for programs, for Prometheus.
 *
 * Each number has a column of its own, wide enough for any, so that a text always has
 * the same size and each line its place in it: whoever reads it in pieces, while
 * numbers change, still gets lines that are whole.
 *
 * Threads: any. Neither locks nor memory are taken.
 */
#ifndef GRANARY_STATS_RENDER_H
#define GRANARY_STATS_RENDER_H

#include <stddef.h>
#include <stdint.h>

/* What stats.json has under "granaryfs": another number when a key gets another meaning. */
enum { RENDER_VERSION = 1 };

/* Text in the making: cut off at its end if there is no room, never beyond it. */
struct text {
	char *bytes;
	size_t room;
	size_t used; /* at most room - 1: there is always a NUL */
};

void text_add(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One line a number: name, value, unit, sentence. */
void render_stats(struct text *text);

/* One JSON object; granary(1) has its keys. */
void render_json(struct text *text);

/* The text format of Prometheus, version 0.0.4. */
void render_metrics(struct text *text);

/* One line: how much is warm. */
void render_progress(struct text *text);

/*
 * What the prefetcher is at, in a word: "idle" where nothing is to be held,
 * "sweeping", "warm" when all of it is.
 */
const char *render_state(uint64_t swept, uint64_t target);

/* swept / target in percent, at most 100; 0 where there is no target. */
double render_percent(uint64_t swept, uint64_t target);

#endif
