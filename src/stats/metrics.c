/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/metrics.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Labels. */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Adds one character of a label's value; returns its length. */
static unsigned add_character(struct render_text *text, const char *value)
{
	uint32_t character;
	unsigned n = utf8_decode(value, strlen(value), &character);

	if (n == 0 || utf8_is_surrogate(character))
		text_add(text, "%s", replacement);
	else if (character == '\n')
		text_add(text, "\\n");
	else if (character < ' ' || character == 0x7f)
		text_add(text, "%s", replacement);
	else
		text_add(text, "%s%.*s", character == '"' || character == '\\' ? "\\" : "",
			 (int)n, value);
	return n ? n : 1;
}

static bool is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static void add_label(struct render_text *text, const char *key, const char *value)
{
	size_t n = strlen(value);

	text_add(text, "%s%s=\"", text->used ? "," : "", key);
	if (n > METRICS_VALUE_MOST) {
		value += n - METRICS_VALUE_MOST;
		while (is_inside_character(*value))
			value++;
	}
	while (*value)
		value += add_character(text, value);
	text_add(text, "\"");
}

void metrics_labels(const struct metrics_facts *facts, char out[METRICS_LABELS_BYTES])
{
	struct render_text text = { .bytes = out, .room = METRICS_LABELS_BYTES };

	add_label(&text, "dataset", facts->dataset);
	add_label(&text, "mount", facts->mount);
	add_label(&text, "jobid", facts->jobid);
	add_label(&text, "user", facts->user);
	add_label(&text, "id", facts->id);
}

/* The samples of a metric are adjacent, behind its HELP and TYPE. */

struct metrics_list {
	const struct metrics_mount *mounts;
	size_t count;
};

static void add_head(struct render_text *text, const char *name, const char *suffix,
		     const char *type, const char *sentence)
{
	text_add(text, "# HELP granaryfs_%s%s %s\n# TYPE granaryfs_%s%s %s\n", name, suffix,
		 sentence, name, suffix, type);
}

/* `own`: labels of the sample, `op="read"`, or "". */
static void add_name(struct render_text *text, const char *name, const char *suffix,
		     const char *own, const char *labels)
{
	const char *comma = *own && *labels ? "," : "";

	text_add(text, "granaryfs_%s%s", name, suffix);
	if (*own || *labels)
		text_add(text, "{%s%s%s}", own, comma, labels);
	text_add(text, " ");
}

static void add_count(struct render_text *text, uint64_t value)
{
	text_add(text, RENDER_NUMBER "\n", value);
}

static void add_requests(struct render_text *text, const struct metrics_list *list)
{
	add_head(text, "requests", "_total", "counter", "requests of the kernel, by kind");
	for (size_t k = 0; k < list->count; k++)
		for (int i = 0; i < COUNTER_COUNT; i++) {
			const char *op = stats_request_of((enum counter)i);
			char own[64];

			if (!op)
				continue;
			snprintf(own, sizeof(own), "op=\"%s\"", op);
			add_name(text, "requests", "_total", own, list->mounts[k].labels);
			add_count(text, stats_load(&list->mounts[k].cells->counters[i]));
		}
}

static void add_counter(struct render_text *text, const struct metrics_list *list, int i)
{
	const struct counter_info *info = &counter_infos[i];
	bool counter = info->kind == KIND_COUNTER;
	const char *suffix = counter ? "_total" : "";

	if (stats_request_of((enum counter)i))
		return;
	add_head(text, info->name, suffix, counter ? "counter" : "gauge", info->sentence);
	for (size_t k = 0; k < list->count; k++) {
		add_name(text, info->name, suffix, "", list->mounts[k].labels);
		add_count(text, stats_load(&list->mounts[k].cells->counters[i]));
	}
}

static void add_seconds(struct render_text *text, uint64_t nanoseconds)
{
	text_add(text, "%11" PRIu64 ".%09" PRIu64 "\n", nanoseconds / 1000000000,
		 nanoseconds % 1000000000);
}

/* `op`: the value of a label, or NULL. */
static void add_buckets(struct render_text *text, const char *name, const char *op,
			const struct histogram_cells *cells, const char *labels)
{
	char own[64] = "", bucket[96];
	uint64_t sum = 0;

	if (op)
		snprintf(own, sizeof(own), "op=\"%s\"", op);
	for (int i = 0; i < BUCKET_BOUNDS; i++) {
		sum += stats_load(&cells->buckets[i]);
		snprintf(bucket, sizeof(bucket), "%s%sle=\"%.9f\"", own, *own ? "," : "",
			 (double)(UINT64_C(1) << (BUCKET_FIRST + i)) / 1e9);
		add_name(text, name, "_seconds_bucket", bucket, labels);
		add_count(text, sum);
	}
	sum += stats_load(&cells->buckets[BUCKET_BOUNDS]);
	snprintf(bucket, sizeof(bucket), "%s%sle=\"+Inf\"", own, *own ? "," : "");
	add_name(text, name, "_seconds_bucket", bucket, labels);
	add_count(text, sum);
	add_name(text, name, "_seconds_sum", own, labels);
	add_seconds(text, stats_load(&cells->sum_ns));
	add_name(text, name, "_seconds_count", own, labels);
	add_count(text, sum);
}

/* Of all mounts. */
static void add_histogram(struct render_text *text, const char *name, const char *op, int i,
			  const struct metrics_list *list)
{
	for (size_t k = 0; k < list->count; k++)
		add_buckets(text, name, op, &list->mounts[k].cells->histograms[i],
			    list->mounts[k].labels);
}

static void add_histograms(struct render_text *text, const struct metrics_list *list)
{
	add_head(text, "request", "_seconds", "histogram", "answering requests, by kind");
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		const char *op = stats_request_timed((enum histogram)i);

		if (op)
			add_histogram(text, "request", op, i, list);
	}
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		const char *name = histogram_infos[i].name;

		if (stats_request_timed((enum histogram)i))
			continue;
		add_head(text, name, "_seconds", "histogram", histogram_infos[i].sentence);
		add_histogram(text, name, NULL, i, list);
	}
}

/* The part of the seconds above for which a request waited. */
static void add_demand(struct render_text *text, const struct metrics_list *list)
{
	add_head(text, "demand", "_seconds_total", "counter",
		 "time that requests waited, by the work");
	for (int i = 0; i < HISTOGRAM_COUNT; i++) {
		char own[64];

		if (stats_request_timed((enum histogram)i))
			continue;
		snprintf(own, sizeof(own), "work=\"%s\"", histogram_infos[i].name);
		for (size_t k = 0; k < list->count; k++) {
			add_name(text, "demand", "_seconds_total", own,
				 list->mounts[k].labels);
			add_seconds(text, stats_load(
				&list->mounts[k].cells->histograms[i].demand_ns));
		}
	}
}

void metrics_render(struct render_text *text, const struct metrics_mount *mounts,
		    size_t count)
{
	const struct metrics_list list = { mounts, count };

	if (count == 0)
		return;
	add_requests(text, &list);
	for (int i = 0; i < COUNTER_COUNT; i++)
		add_counter(text, &list, i);
	add_histograms(text, &list);
	add_demand(text, &list);
}
