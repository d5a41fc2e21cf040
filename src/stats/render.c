/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/render.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "stats/stats.h"

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
	text_add(text, "%-24s " RENDER_NUMBER " %-9s  %s\n", name, value, unit, sentence);
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
		render_add_line(text, name, stats_times(cells), "times",
				histogram_infos[i].sentence);
		snprintf(name, sizeof(name), "%s_ns", histogram_infos[i].name);
		render_add_line(text, name, stats_load(&cells->sum_ns), "ns", "in all");
		if (stats_request_timed((enum histogram)i))
			continue;
		snprintf(name, sizeof(name), "%s_demand_ns", histogram_infos[i].name);
		render_add_line(text, name, stats_load(&cells->demand_ns), "ns",
				"of that, while a request waited for it");
	}
}

void render_progress(struct render_text *text)
{
	uint64_t swept = stats_get(COUNTER_swept_bytes);
	uint64_t target = stats_get(COUNTER_sweep_target);

	text_add(text, "%5.1f %% warm: " RENDER_NUMBER " of " RENDER_NUMBER " bytes, %-8s\n",
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
		text_add(text, "%s\n    \"%s\": " RENDER_NUMBER, comma, counter_infos[i].name,
			 stats_get((enum counter)i));
		comma = ",";
	}
	text_add(text, "\n  },\n");
}

static void add_json_histogram(struct render_text *text, int i)
{
	const struct histogram_cells *cells = &histogram_cells[i];

	text_add(text,
		 "%s\n    \"%s\": {\n      \"count\": " RENDER_NUMBER
		 ",\n      \"sum_ns\": " RENDER_NUMBER ",\n      \"demand_ns\": " RENDER_NUMBER
		 ",\n      \"buckets\": [",
		 i ? "," : "", histogram_infos[i].name, stats_times(cells),
		 stats_load(&cells->sum_ns), stats_load(&cells->demand_ns));
	for (int k = 0; k < BUCKET_COUNT; k++)
		text_add(text, "%s\n        " RENDER_NUMBER, k ? "," : "",
			 stats_load(&cells->buckets[k]));
	text_add(text, "\n      ]\n    }");
}

void render_json(struct render_text *text)
{
	const char *state = render_state(stats_get(COUNTER_swept_bytes),
					 stats_get(COUNTER_sweep_target));

	text_add(text, "{\n  \"granaryfs\": %d,\n  \"clock_ns\": " RENDER_NUMBER
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
