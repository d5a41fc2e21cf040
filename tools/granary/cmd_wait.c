/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_wait.c: granary wait: until a mount answers, or a share of it is warm. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "granary.h"
#include "live.h"
#include "progress.h"
#include "stats/render.h"
#include "os/bounded.h"
#include "base/json.h"
#include "base/log.h"
#include "base/size.h"

enum {
	PROBE_MS = 200,
	IDLE_MS = 3000,      /* a sweep that begins with the mount has begun by then */
};

struct wait {
	const char *mount;
	bool warm;          /* wait for bytes, not only for an answer */
	bool quiet;
	unsigned percent;   /* wanted */
	long long end;      /* bounded_now, or LLONG_MAX */
	long long idle_since; /* since when nothing is warmed; 0: a sweep is under way */
	bool said_absent;

	struct stats_sample sample; /* the latest */
	struct progress progress;
	bool begun;           /* a sweep was seen */
	struct error error;
};

static uint64_t swept(const struct wait *w)
{
	return w->sample.counters[COUNTER_swept_bytes];
}

static uint64_t target(const struct wait *w)
{
	return w->sample.counters[COUNTER_sweep_target];
}

static double percent(const struct wait *w)
{
	return render_percent(swept(w), target(w));
}

static void wait_show(struct wait *w)
{
	atomic_store(&w->progress.bytes, swept(w));
	atomic_store(&w->progress.bytes_total, target(w));
	if (!w->begun)
		progress_begin(&w->progress, w->quiet);
	w->begun = true;
	progress_show(&w->progress);
}

static bool is_late(const struct wait *w)
{
	return bounded_now() >= w->end;
}

static enum sweep_limit limit(const struct wait *w)
{
	uint64_t value = w->sample.counters[COUNTER_sweep_limit];

	return value < LIMIT_COUNT ? (enum sweep_limit)value : LIMIT_NONE;
}

/* Reasons for an idle sweep, with the remedies. */
static const char *const reasons[LIMIT_COUNT] = {
	[LIMIT_NONE] = "nobody has begun to read all of it; mount with -o prefetch=sweep and "
		       "it begins at once",
	[LIMIT_OFF] = "-o prefetch=off and window never read all of it; mount with "
		      "-o prefetch=sweep and it begins at once",
	[LIMIT_NO_JOB] = "with -o prefetch=auto that begins in a batch job only; mount with "
			 "-o prefetch=sweep and it begins at once",
	[LIMIT_NO_LOADER] = "with -o prefetch=auto that begins when a loader does, and none "
			    "has; begin to read, or mount with -o prefetch=sweep and it begins "
			    "at once",
	[LIMIT_BUDGET] = "no more fits the memory budget; mount with a larger -o cache=SIZE",
	[LIMIT_MEMORY] = "others need the memory; end what takes it, or have more for the job "
			 "(Slurm: --mem)",
	[LIMIT_FAILED] = "reading ahead has failed, and the log of the mount says why; "
			 "readers are served all the same; to try it again, mount anew",
	[LIMIT_EMPTY] = "no file there has a single byte; look at it with granary ls",
};

static int fail_idle(struct wait *w)
{
	return error_set(&w->error, ERROR_IDLE, ENODATA, "%s: nothing is being warmed: %s",
			 w->mount, reasons[limit(w)]);
}

/* Warns where the target of the sweep is less than the whole dataset. */
static void report_missing(const struct wait *w)
{
	uint64_t all = w->sample.counters[COUNTER_dataset_bytes];
	char held[SIZE_TEXT_BYTES], whole[SIZE_TEXT_BYTES];

	if (!w->warm || w->quiet || target(w) >= all ||
	    (limit(w) != LIMIT_BUDGET && limit(w) != LIMIT_MEMORY))
		return;
	log_warn("%s: %s of %s are to be held, and the rest is read from storage each time: %s",
		 w->mount, size_text(target(w), held), size_text(all, whole),
		 reasons[limit(w)]);
}

/* True: the sweep starts by itself once a process reads. */
static bool may_begin(const struct wait *w)
{
	return limit(w) == LIMIT_NONE || limit(w) == LIMIT_NO_LOADER;
}

static int fail_late(struct wait *w, bool answers)
{
	if (answers && target(w) == 0)
		return fail_idle(w);
	if (!answers)
		return error_set(&w->error, ERROR_LATE, ETIMEDOUT,
				 "%s: nothing was mounted there in time", w->mount);
	return error_set(&w->error, ERROR_LATE, ETIMEDOUT,
			 "%s: %.1f %% were warm in time, not %u %%; it goes on", w->mount,
			 percent(w), w->percent);
}

/* A sweep that is about to begin is waited for, up to IDLE_MS. */
static int wait_check_idle(struct wait *w)
{
	if (!w->idle_since)
		w->idle_since = bounded_now();
	if (may_begin(w) && bounded_now() - w->idle_since < IDLE_MS)
		return 0;
	return fail_idle(w);
}

/* 1: the wait is over; 0: not yet; or a negative errno. */
static int check_sample(struct wait *w)
{
	if (!w->warm)
		return 1;
	if (target(w) == 0)
		return wait_check_idle(w);
	w->idle_since = 0;
	wait_show(w);
	if (percent(w) >= w->percent)
		return 1;
	return limit(w) == LIMIT_FAILED ? fail_idle(w) : 0;
}

static int check_absent(struct wait *w)
{
	if (!w->said_absent)
		log_warn("%s: nothing is mounted there yet; waiting for that", w->mount);
	w->said_absent = true;
	return 0;
}

static int wait_for(struct wait *w)
{
	for (;;) {
		enum live live = live_sample(w->mount, &w->sample, &w->error);
		int done;

		if (live == LIVE_FAILED)
			return -EIO; /* w->error has the sentence */
		done = live == LIVE_ANSWERS ? check_sample(w) : check_absent(w);
		if (done)
			return done < 0 ? done : 0;
		if (is_late(w))
			return fail_late(w, live == LIVE_ANSWERS);
		bounded_pause(PROBE_MS);
	}
}

/* The number in an option, at least 1; `otherwise` without the option. */
static bool wait_number_of(const struct request *request, char letter, unsigned long most,
			   unsigned long otherwise, unsigned long *out)
{
	const char *text = request->value[(int)letter];
	char *end;

	*out = otherwise;
	if (!text)
		return true;
	errno = 0;
	*out = strtoul(text, &end, 10);
	if (letter == 'w' && *end == '%')
		end++;
	return *text >= '0' && *text <= '9' && !*end && !errno && *out > 0 && *out <= most;
}

static void print_json(const struct wait *w, bool done)
{
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_text(&json, "mountpoint", w->mount);
	json_bool(&json, "done", done);
	json_uint(&json, "warm_percent", (uint64_t)percent(w));
	json_uint(&json, "swept_bytes", swept(w));
	json_uint(&json, "sweep_target", target(w));
	if (!done)
		json_text(&json, "error", w->error.text);
	json_close(&json, '}');
	putchar('\n');
}

static int run(struct request *request)
{
	struct wait w = { .mount = request->arguments[0], .warm = request->given['w'],
			  .quiet = request->quiet, .end = LLONG_MAX,
			  .progress = { .subject = request->arguments[0],
					.reached = "warm" } };
	unsigned long warm, timeout;
	int err, output;

	if (request->argument_count != 1)
		return report_usage(request->command, "one mount at a time");
	if (!wait_number_of(request, 'w', 100, 100, &warm))
		return report_usage(request->command, "--warm takes percent, 1 to 100");
	if (!wait_number_of(request, 't', INT_MAX, 0, &timeout))
		return report_usage(request->command, "--timeout takes seconds, 1 at least");
	w.percent = w.progress.wanted = (unsigned)warm;
	if (timeout)
		w.end = bounded_now() + (long long)timeout * 1000;
	err = wait_for(&w);
	progress_end(&w.progress);
	if (!err)
		report_missing(&w);
	if (request->json)
		print_json(&w, !err);
	output = finish_output();
	return err ? report_error(&w.error) : output;
}

static const struct option longs[] = {
	{ "warm", required_argument, NULL, 'w' },
	{ "timeout", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_wait = {
	.name = "wait", .usage = "[--warm PCT] [--timeout SECONDS] [-q] [--json] MOUNTPOINT",
	.summary = "Waits until a mount answers, or until so much of it is warm",
	.help = "    --warm PCT                      until the sweep has got so far, in percent\n"
		"    --timeout SECONDS               give up after that, with status 4\n",
	.shorts = "", .longs = longs, .takes_quiet = true, .run = run,
};
