/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * render.h: the counters as text, readable and JSON. metrics.h is for Prometheus.
 *
 * Each number has a column wide enough for any value, so a text has a constant size and
 * each line a constant place. A process that reads it in pieces, while numbers change,
 * gets whole lines.
 *
 * Threads: any. No locks, no allocation.
 */
#ifndef GRANARY_STATS_RENDER_H
#define GRANARY_STATS_RENDER_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

/* stats.json's "granaryfs": a new number when a key changes its meaning. */
enum { RENDER_VERSION = 1 };

#define RENDER_NUMBER "%20" PRIu64 /* the largest has 20 digits */

/* A text buffer: output beyond it is cut off. */
struct render_text {
	char *bytes;
	size_t room;
	size_t used; /* at most room - 1, before the NUL */
};

void text_add(struct render_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One line a number: name, value, unit, sentence. */
void render_stats(struct render_text *text);

/* One JSON object; granary(1) has its keys. */
void render_json(struct render_text *text);

/* One line: the progress of the sweep. */
void render_progress(struct render_text *text);

/* The state of the sweep: "idle" (no target), "sweeping", or "warm" (target reached). */
const char *render_state(uint64_t swept, uint64_t target);

/* swept / target in percent, at most 100; 0 without a target. */
double render_percent(uint64_t swept, uint64_t target);

#endif
