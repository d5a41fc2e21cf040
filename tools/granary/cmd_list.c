/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_list.c: granary list: all mounts of the node, for people, programs and Prometheus. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "granary.h"
#include "mount_list.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/size.h"
#include "stats/metrics.h"

static uint64_t age_of(const struct listed_mount *mount)
{
	time_t now = time(NULL);
	uint64_t started = mount->record->facts.started;

	return now > 0 && (uint64_t)now > started ? (uint64_t)now - started : 0;
}

static const char *job_of(const struct listed_mount *mount)
{
	return mount->record ? mount->record->facts.jobid : "";
}

/* For people. */

/* "35s", "7m", "12h", "3d" */
static void print_age(uint64_t seconds)
{
	static const struct {
		uint64_t seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	char text[32];
	size_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(*units) && seconds < units[i].seconds)
		i++;
	snprintf(text, sizeof(text), "%llu%c",
		 (unsigned long long)(seconds / units[i].seconds), units[i].unit);
	printf(" %6s", text);
}

static void print_figures(const struct listed_mount *mount)
{
	char size[SIZE_TEXT_BYTES];
	double share;

	if (!mount->record) {
		printf(" %6s %10s %6s", "-", "-", "-");
		return;
	}
	share = sample_hit_share(&mount->sample);
	print_age(age_of(mount));
	printf(" %10s", size_text(sample_memory(&mount->sample), size));
	if (share < 0)
		printf(" %6s", "-");
	else
		printf(" %5.1f%%", 100 * share);
}

/* Pads like printf, whatever bytes the text has. */
static void print_column(const char *text, int width)
{
	print_escaped(*text ? text : "-");
	printf("%*s", width > (int)strlen(text) ? width - (int)strlen(text) : 0, "");
}

static void print_mount(const struct listed_mount *mount)
{
	print_column(mount->id, 14);
	putchar(' ');
	print_column(mount->user, 10);
	putchar(' ');
	print_column(job_of(mount), *job_of(mount) ? 10 : 9);
	print_figures(mount);
	printf("  ");
	print_escaped(mount->mountpoint);
	printf("%s  ", mount->is_private ? " (private)" : "");
	print_escaped(mount->source);
	putchar('\n');
}

static void print_table(const struct mount_list *list)
{
	if (list->count > 0)
		printf("%-14s %-10s %-10s %6s %10s %6s  %s\n", "ID", "USER", "JOB", "AGE",
		       "MEMORY", "HITS", "MOUNT POINT  SOURCE");
	for (size_t i = 0; i < list->count; i++)
		print_mount(&list->items[i]);
}

/* For programs. */

static void print_json(const struct listed_mount *mount)
{
	struct json json = { .out = stdout };
	double share = mount->record ? sample_hit_share(&mount->sample) : -1;

	json_open(&json, NULL, '{');
	json_text(&json, "id", mount->id);
	json_text(&json, "user", mount->user);
	json_text(&json, "source", mount->source);
	json_text(&json, "mountpoint", mount->mountpoint);
	json_bool(&json, "private", mount->is_private);
	if (mount->record) {
		json_text(&json, "jobid", mount->record->facts.jobid);
		json_uint(&json, "pid", (uint64_t)mount->daemon);
		json_uint(&json, "started", mount->record->facts.started);
		json_uint(&json, "age_seconds", age_of(mount));
		json_bool(&json, "shielded", mount->sample.counters[COUNTER_shielded] > 0);
		json_uint(&json, "memory_bytes", sample_memory(&mount->sample));
	}
	if (share >= 0)
		json_uint(&json, "hit_percent", (uint64_t)(100 * share + 0.5));
	json_close(&json, '}');
	putchar('\n');
}

/* For Prometheus. */

static void label(const struct listed_mount *mount, char out[METRICS_LABELS_BYTES])
{
	const struct metrics_facts facts = {
		.dataset = mount->source, .mount = mount->mountpoint,
		.jobid = mount->record->facts.jobid, .user = mount->user, .id = mount->id,
	};

	metrics_labels(&facts, out);
}

static int print_metrics(const struct mount_list *list)
{
	CLEANUP(cleanup_free) struct metrics_mount *mounts = calloc(list->count + 1,
								     sizeof(*mounts));
	CLEANUP(cleanup_free) char *labels = calloc(list->count + 1, METRICS_LABELS_BYTES);
	struct render_text text = { .room = (list->count + 1) * METRICS_BYTES };
	CLEANUP(cleanup_free) char *bytes = malloc(text.room);
	struct error e;
	size_t n = 0;

	if (!mounts || !labels || !bytes) {
		error_no_memory(&e, NULL);
		return report_error(&e);
	}
	text.bytes = bytes;
	for (size_t i = 0; i < list->count; i++) {
		if (!list->items[i].record)
			continue;
		label(&list->items[i], labels + n * METRICS_LABELS_BYTES);
		mounts[n] = (struct metrics_mount){ labels + n * METRICS_LABELS_BYTES,
						    &list->items[i].record->cells };
		n++;
	}
	metrics_render(&text, mounts, n);
	fwrite(text.bytes, 1, text.used, stdout);
	return 0;
}

static int run(struct request *request)
{
	CLEANUP(mount_list_free) struct mount_list list = { 0 };
	struct error e;
	int status = 0;

	if (request->argument_count > 0)
		return report_usage(request->command, "all mounts are listed: no argument");
	if (mount_list_read(&list, &e) < 0)
		return report_error(&e);
	if (request->given['m'])
		status = print_metrics(&list);
	else if (!request->json)
		print_table(&list);
	for (size_t i = 0; request->json && i < list.count; i++)
		print_json(&list.items[i]);
	return status ? status : finish_output();
}

static const struct option longs[] = {
	{ "metrics", no_argument, NULL, 'm' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_list = {
	.name = "list", .usage = "[--metrics] [--json]",
	.summary = "Lists all mounts of the node, with job, memory and hit rate",
	.help = "    --metrics                       print all counters for Prometheus\n",
	.shorts = "", .longs = longs, .takes_nothing = true, .run = run,
};
