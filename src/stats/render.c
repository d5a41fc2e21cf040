/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/render.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "stats/stats.h"

#define NUMBER "%20" PRIu64 /* the largest has 20 digits */

static const char fuse_prefix[] = "fuse_", request_prefix[] = "request_";

void text_add(struct render_text *text, const char *format, ...)
{
	size_t room = text->room - text->used;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text->bytes + text->used, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		text->used += (size_t)n < room ? (size_t)n : room - 1;
}

static uint64_t render_load(const _Atomic uint64_t *cell)
{
	return atomic_load_explicit(cell, memory_order_relaxed);
}

static uint64_t render_count_of(const struct histogram_cells *cells)
{
	uint64_t sum = 0;

	for (int i = 0; i < BUCKET_COUNT; i++)
		sum += render_load(&cells->buckets[i]);
	return sum;
}

/* The text behind the prefix, or NULL if the name has another. */
static const char *after_prefix(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

const char *render_state(uint64_t swept, uint64_t target)
{
	if (target == 0)
		return "idle";
	return swept < target ? "sweeping" : "warm";
}

double render_percent(uint64_t swept, uint64_t target)
{
	if (swept >= target)
		return target ? 100 : 0;
	return 100 * (double)swept / (double)target;
}

/* The readable form. */

static void render_add_line(struct render_text *text, const char *name, uint64_t value,
			    const char *unit, const char *sentence)
{
	text_add(text, "%-24s " NUMBER " %-9s  %s\n", name, value, unit, sentence);
}

void render_stats(struct render_text *text)
{
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_info *info = &counter_infos[i];

		render_add_line(text, info->name, stats_get((enum counter)i), info->unit,
				info->sentence);
	}
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		const struct histogram_cells *cells = &histogram_cells[i];
		char name[64];

		snprintf(name, sizeof(name), "%s_count", histogram_infos[i].name);
		render_add_line(text, name, render_count_of(cells), "times",
				histogram_infos[i].sentence);
		snprintf(name, sizeof(name), "%s_ns", histogram_infos[i].name);
		render_add_line(text, name, render_load(&cells->sum_ns), "ns", "in all");
		if (after_prefix(histogram_infos[i].name, request_prefix))
			continue;
		snprintf(name, sizeof(name), "%s_demand_ns", histogram_infos[i].name);
		render_add_line(text, name, render_load(&cells->demand_ns), "ns",
				"of that, while a request waited for it");
	}
}

void render_progress(struct render_text *text)
{
	uint64_t swept = stats_get(COUNTER_swept_bytes);
	uint64_t target = stats_get(COUNTER_sweep_target);

	text_add(text, "%5.1f %% warm: " NUMBER " of " NUMBER " bytes, %-8s\n",
		 render_percent(swept, target), swept, target,
		 render_state(swept, target));
}

/* JSON. */

static void add_json_counters(struct render_text *text, const char *key,
			      enum counter_kind kind)
{
	const char *comma = "";

	text_add(text, "  \"%s\": {", key);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_infos[i].kind != kind)
			continue;
		text_add(text, "%s\n    \"%s\": " NUMBER, comma, counter_infos[i].name,
			 stats_get((enum counter)i));
		comma = ",";
	}
	text_add(text, "\n  },\n");
}

static void add_json_histogram(struct render_text *text, int i)
{
	const struct histogram_cells *cells = &histogram_cells[i];

	text_add(text,
		 "%s\n    \"%s\": {\n      \"count\": " NUMBER
		 ",\n      \"sum_ns\": " NUMBER ",\n      \"demand_ns\": " NUMBER
		 ",\n      \"buckets\": [",
		 i ? "," : "", histogram_infos[i].name, render_count_of(cells),
		 render_load(&cells->sum_ns), render_load(&cells->demand_ns));
	for (int k = 0; k < BUCKET_COUNT; k++)
		text_add(text, "%s\n        " NUMBER, k ? "," : "",
			 render_load(&cells->buckets[k]));
	text_add(text, "\n      ]\n    }");
}

void render_json(struct render_text *text)
{
	const char *state = render_state(stats_get(COUNTER_swept_bytes),
					 stats_get(COUNTER_sweep_target));

	text_add(text, "{\n  \"granaryfs\": %d,\n  \"clock_ns\": " NUMBER
		 ",\n  \"state\": \"%s\"%*s,\n", RENDER_VERSION, stats_clock(), state,
		 (int)(strlen("sweeping") - strlen(state)), "");
	add_json_counters(text, "counters", KIND_COUNTER);
	add_json_counters(text, "gauges", KIND_GAUGE);
	text_add(text, "  \"bucket_bounds_ns\": [");
	for (int i = 0; i < BUCKET_BOUNDS; i++)
		text_add(text, "%s%" PRIu64, i ? ", " : "", UINT64_C(1) << (BUCKET_FIRST + i));
	text_add(text, "],\n  \"histograms\": {");
	for (int i = 0; i < HISTOGRAM_COUNT; i++)
		add_json_histogram(text, i);
	text_add(text, "\n  }\n}\n");
}

/* Prometheus: the samples of a metric are adjacent, behind its HELP and TYPE. */

static void add_head(struct render_text *text, const char *name, const char *suffix,
		     const char *type, const char *sentence)
{
	text_add(text, "# HELP granaryfs_%s%s %s\n# TYPE granaryfs_%s%s %s\n", name, suffix,
		 sentence, name, suffix, type);
}

static void add_requests(struct render_text *text)
{
	add_head(text, "requests", "_total", "counter", "requests of the kernel, by kind");
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const char *op = after_prefix(counter_infos[i].name, fuse_prefix);

		if (op)
			text_add(text, "granaryfs_requests_total{op=\"%s\"} " NUMBER "\n", op,
				 stats_get((enum counter)i));
	}
}

static void add_counter(struct render_text *text, int i)
{
	const struct counter_info *info = &counter_infos[i];
	bool counter = info->kind == KIND_COUNTER;
	const char *suffix = counter ? "_total" : "";

	if (after_prefix(info->name, fuse_prefix))
		return;
	add_head(text, info->name, suffix, counter ? "counter" : "gauge", info->sentence);
	text_add(text, "granaryfs_%s%s " NUMBER "\n", info->name, suffix,
		 stats_get((enum counter)i));
}

static void add_seconds(struct render_text *text, uint64_t nanoseconds)
{
	text_add(text, "%11" PRIu64 ".%09" PRIu64 "\n", nanoseconds / 1000000000,
		 nanoseconds % 1000000000);
}

/* `op`: the value of a label, or NULL. */
static void add_buckets(struct render_text *text, const char *name, const char *op,
			const struct histogram_cells *cells)
{
	char label[64] = "", alone[72] = "";
	uint64_t sum = 0;

	if (op) {
		snprintf(label, sizeof(label), "op=\"%s\",", op);
		snprintf(alone, sizeof(alone), "{op=\"%s\"}", op);
	}
	for (int i = 0; i < BUCKET_BOUNDS; i++) {
		sum += render_load(&cells->buckets[i]);
		text_add(text, "granaryfs_%s_seconds_bucket{%sle=\"%.9f\"} " NUMBER "\n", name,
			 label, (double)(UINT64_C(1) << (BUCKET_FIRST + i)) / 1e9, sum);
	}
	sum += render_load(&cells->buckets[BUCKET_BOUNDS]);
	text_add(text, "granaryfs_%s_seconds_bucket{%sle=\"+Inf\"} " NUMBER "\n", name, label,
		 sum);
	text_add(text, "granaryfs_%s_seconds_sum%s ", name, alone);
	add_seconds(text, render_load(&cells->sum_ns));
	text_add(text, "granaryfs_%s_seconds_count%s " NUMBER "\n", name, alone, sum);
}

static void add_histograms(struct render_text *text)
{
	add_head(text, "request", "_seconds", "histogram", "answering requests, by kind");
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		const char *op = after_prefix(histogram_infos[i].name, request_prefix);

		if (op)
			add_buckets(text, "request", op, &histogram_cells[i]);
	}
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		const char *name = histogram_infos[i].name;

		if (after_prefix(name, request_prefix))
			continue;
		add_head(text, name, "_seconds", "histogram", histogram_infos[i].sentence);
		add_buckets(text, name, NULL, &histogram_cells[i]);
	}
}

/* The part of the seconds above for which a request waited. */
static void add_demand(struct render_text *text)
{
	add_head(text, "demand", "_seconds_total", "counter",
		 "time that requests waited, by the work");
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		if (after_prefix(histogram_infos[i].name, request_prefix))
			continue;
		text_add(text, "granaryfs_demand_seconds_total{work=\"%s\"} ",
			 histogram_infos[i].name);
		add_seconds(text, render_load(&histogram_cells[i].demand_ns));
	}
}

void render_metrics(struct render_text *text)
{
	add_requests(text);
	for (int i = 0; i < COUNTER_COUNT; i++)
		add_counter(text, i);
	add_histograms(text);
	add_demand(text);
}
