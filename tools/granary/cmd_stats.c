/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_stats.c: granary stats: the current rates of a mount, and its bottleneck. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "granary.h"
#include "live.h"
#include "mount_list.h"
#include "stats/render.h"
#include "os/bounded.h"
#include "base/json.h"
#include "base/size.h"

enum { SECONDS_MOST = 86400 };

/* Two samples, and the rates between them. */
struct stats_view {
	const char *mount;
	struct stats_sample before, now;
	struct rates rates;
};

static uint64_t gauge(const struct stats_view *v, enum counter counter)
{
	return v->now.counters[counter];
}

static double warm_percent(const struct stats_view *v)
{
	return render_percent(gauge(v, COUNTER_swept_bytes),
			      gauge(v, COUNTER_sweep_target));
}

static const char *state(const struct stats_view *v)
{
	return render_state(gauge(v, COUNTER_swept_bytes),
			    gauge(v, COUNTER_sweep_target));
}

static char *whole(double value, char *out)
{
	return count_text((uint64_t)(value + 0.5), out);
}

/* For people. */

static void print_traffic(const struct rates *r)
{
	char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES];

	printf("requests   %s a second, of these %s reads\n", whole(r->requests, a),
	       whole(r->reads, b));
	printf("storage    %s a second in %s reads\n", size_text((uint64_t)r->source_bytes, a),
	       whole(r->source_reads, b));
	printf("pushed     %s a second into the page cache\n",
	       size_text((uint64_t)r->pushed_bytes, a));
}

static void stats_print_memory(const struct stats_view *v)
{
	char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES];

	if (gauge(v, COUNTER_sweep_target) > 0)
		printf("warm       %.1f %%, %s of %s (%s)\n", warm_percent(v),
		       size_text(gauge(v, COUNTER_swept_bytes), a),
		       size_text(gauge(v, COUNTER_sweep_target), b), state(v));
	else
		puts("warm       nothing is read ahead (idle)");
	printf("cache      %s", size_text(gauge(v, COUNTER_cache_bytes), a));
	if (v->rates.hit_share >= 0)
		printf(", %.1f %% hits", 100 * v->rates.hit_share);
	printf("\nmemory     %s", size_text(sample_memory(&v->now), a));
	if (gauge(v, COUNTER_budget_bytes) > 0)
		printf(" of %s", size_text(gauge(v, COUNTER_budget_bytes), b));
	printf("\nshield     %s\n", gauge(v, COUNTER_shielded) ? "on" : "off");
}

static void print_block(const struct stats_view *v)
{
	char sentence[BOUND_TEXT_BYTES];

	print_traffic(&v->rates);
	stats_print_memory(v);
	puts(bound_sentence(&v->rates, sentence));
}

/* One line for each sample, for a log. */
static void stats_print_line(const struct stats_view *v)
{
	char clock[32] = "", size[SIZE_TEXT_BYTES], pushed[SIZE_TEXT_BYTES],
	     count[SIZE_TEXT_BYTES], reads[SIZE_TEXT_BYTES];
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(clock, sizeof(clock), "%H:%M:%S ", &local);
	printf("%s%s requests/s, storage %s/s in %s reads/s, pushed %s/s, %.1f %% warm (%s), "
	       "bound by %s\n", clock, whole(v->rates.requests, count),
	       size_text((uint64_t)v->rates.source_bytes, size),
	       whole(v->rates.source_reads, reads),
	       size_text((uint64_t)v->rates.pushed_bytes, pushed), warm_percent(v), state(v),
	       bound_word(v->rates.bound));
}

/* For programs. */

static uint64_t rounded(double value)
{
	return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static void print_rates(struct json *json, const struct rates *r)
{
	json_open(json, "per_second", '{');
	json_uint(json, "requests", rounded(r->requests));
	json_uint(json, "reads", rounded(r->reads));
	json_uint(json, "source_reads", rounded(r->source_reads));
	json_uint(json, "source_bytes", rounded(r->source_bytes));
	json_uint(json, "pushed_bytes", rounded(r->pushed_bytes));
	json_uint(json, "decoded_bytes", rounded(r->decoded_bytes));
	json_uint(json, "waiting_ms", rounded(1000 * r->waiting));
	json_uint(json, "storage_ms", rounded(1000 * r->storage));
	json_uint(json, "decode_ms", rounded(1000 * r->decode));
	json_uint(json, "daemon_ms", rounded(1000 * r->daemon));
	json_close(json, '}');
}

static void print_counters(struct json *json, const char *key, const struct stats_view *v,
			   enum counter_kind kind)
{
	json_open(json, key, '{');
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_infos[i].kind == kind)
			json_uint(json, counter_infos[i].name, v->now.counters[i]);
	}
	json_close(json, '}');
}

static void print_json(const struct stats_view *v)
{
	struct json json = { .out = stdout };
	char sentence[BOUND_TEXT_BYTES];

	json_open(&json, NULL, '{');
	json_text(&json, "mountpoint", v->mount);
	json_uint(&json, "milliseconds", rounded(1000 * v->rates.seconds));
	json_text(&json, "state", state(v));
	json_uint(&json, "warm_percent", (uint64_t)warm_percent(v));
	json_text(&json, "bound", bound_word(v->rates.bound));
	json_text(&json, "sentence", bound_sentence(&v->rates, sentence));
	print_rates(&json, &v->rates);
	print_counters(&json, "counters", v, KIND_COUNTER);
	print_counters(&json, "gauges", v, KIND_GAUGE);
	json_close(&json, '}');
	putchar('\n');
}

/* Sampling. */

static int next_sample(struct stats_view *v, unsigned seconds)
{
	struct error e;

	v->before = v->now;
	bounded_pause(seconds * 1000);
	if (live_sample(v->mount, &v->now, &e) != LIVE_ANSWERS)
		return report_error(&e);
	sample_rates(&v->before, &v->now, &v->rates);
	return 0;
}

static void stats_show(const struct stats_view *v, const struct request *request)
{
	if (request->json) {
		print_json(v);
	} else if (!request->given['w']) {
		print_block(v);
	} else if (isatty(STDOUT_FILENO)) {
		fputs("\033[H\033[J", stdout);
		printf("%s\n\n", v->mount);
		print_block(v);
	} else {
		stats_print_line(v);
	}
}

/* 0: the argument is not a number of seconds. */
static unsigned watch_seconds(const struct request *request)
{
	const char *text = request->value['w'];
	char *end;
	unsigned long seconds;

	if (!request->given['w'] || !text)
		return 1;
	seconds = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || seconds > SECONDS_MOST)
		return 0;
	return (unsigned)seconds;
}

static int run(struct request *request)
{
	struct stats_view view = { .mount = request->arguments[0] };
	unsigned seconds = watch_seconds(request);
	struct error e;
	int status;

	if (request->argument_count != 1)
		return report_usage(request->command, "one mount at a time");
	if (seconds == 0)
		return report_usage(request->command, "--watch takes seconds, 1 at least");
	if (live_sample(view.mount, &view.now, &e) != LIVE_ANSWERS)
		return report_error(&e);
	do {
		status = next_sample(&view, seconds);
		if (status)
			return status;
		stats_show(&view, request);
		status = finish_output();
	} while (!status && request->given['w']);
	return status;
}

static const struct option longs[] = {
	{ "watch", optional_argument, NULL, 'w' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_stats = {
	.name = "stats", .usage = "[--watch[=SECONDS]] [--json] MOUNTPOINT",
	.summary = "What a mount does at the moment, and what bounds the reader",
	.help = "    --watch[=SECONDS]               again and again, every second\n",
	.shorts = "", .longs = longs, .run = run,
};
