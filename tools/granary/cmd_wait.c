/* cmd_wait.c: granary wait: until a mount answers, or until so much of it is warm. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "granary.h"
#include "live.h"
#include "stats/render.h"
#include "util/bounded.h"
#include "util/json.h"
#include "util/log.h"
#include "util/size.h"

enum {
	LOOK_MS = 200,
	IDLE_MS = 3000,      /* a sweep that begins with the mount has begun by then */
	LINE_MS = 10000,     /* plain lines: not more often, */
	LINE_PERCENT = 10,   /* unless so much has come */
	BAR = 30,
};

struct wait {
	const char *mount;
	bool warm;          /* wait for bytes, not only for an answer */
	bool bar;           /* standard error is a terminal */
	unsigned percent;   /* wanted */
	long long end;      /* bounded_now, or LLONG_MAX */
	long long idle_since; /* nothing is being warmed; 0: something is */
	bool said_absent;

	struct sample sample; /* the latest */
	long long begin;      /* the first that had something to warm; 0: none had */
	uint64_t begin_bytes;
	long long line_at;    /* the last plain line */
	double line_percent;
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

/* Bytes a second since something came; 0: not known yet. */
static double speed(const struct wait *w)
{
	long long ms = bounded_now() - w->begin;

	return ms > 0 && swept(w) > w->begin_bytes ?
		       (double)(swept(w) - w->begin_bytes) * 1000 / (double)ms : 0;
}

/* "1.2 GiB of 2.7 GiB, 210 MiB/s, 7 s left" */
static void print_figures(const struct wait *w)
{
	double bytes_left = (double)target(w) * w->percent / 100 - (double)swept(w);
	char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES];

	fprintf(stderr, "%s of %s", size_text(swept(w), a), size_text(target(w), b));
	if (speed(w) > 0)
		fprintf(stderr, ", %s/s", size_text((uint64_t)speed(w), a));
	if (speed(w) > 0 && bytes_left > 0)
		fprintf(stderr, ", %.0f s left", bytes_left / speed(w));
}

static void draw_bar(const struct wait *w)
{
	int full = (int)(percent(w) * BAR / 100);

	fprintf(stderr, "\r[%.*s%*s] %5.1f %%, ", full, "##############################",
		BAR - full, "", percent(w));
	print_figures(w);
	fputs("\033[K", stderr);
}

static void print_line(struct wait *w)
{
	long long now = bounded_now();

	if (w->line_at && now - w->line_at < LINE_MS &&
	    percent(w) - w->line_percent < LINE_PERCENT)
		return;
	w->line_at = now;
	w->line_percent = percent(w);
	fprintf(stderr, "%s: %.1f %% warm, ", w->mount, percent(w));
	print_figures(w);
	fputc('\n', stderr);
}

static void show(struct wait *w)
{
	if (!w->begin) {
		w->begin = bounded_now();
		w->begin_bytes = swept(w);
	}
	if (w->bar)
		draw_bar(w);
	else
		print_line(w);
}

static bool is_late(const struct wait *w)
{
	return bounded_now() >= w->end;
}

static int fail_idle(struct wait *w)
{
	return error_set(&w->error, ERROR_IDLE, ENODATA,
			 "%s: nothing is being warmed: with -o prefetch=auto that begins when a "
			 "loader does, and only in a batch job, with off or window never; mount "
			 "with -o prefetch=sweep and it begins at once", w->mount);
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

/* Nothing is to be warmed: not for long, if the sweep is about to begin. */
static int check_idle(struct wait *w)
{
	if (!w->idle_since)
		w->idle_since = bounded_now();
	if (bounded_now() - w->idle_since < IDLE_MS)
		return 0;
	return fail_idle(w);
}

/* 1: what was waited for is there; 0: not yet; or a negative errno. */
static int check_sample(struct wait *w)
{
	if (!w->warm)
		return 1;
	if (target(w) == 0)
		return check_idle(w);
	w->idle_since = 0;
	show(w);
	return percent(w) >= w->percent;
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
			return -EIO; /* w->error says what */
		done = live == LIVE_ANSWERS ? check_sample(w) : check_absent(w);
		if (done)
			return done < 0 ? done : 0;
		if (is_late(w))
			return fail_late(w, live == LIVE_ANSWERS);
		bounded_pause(LOOK_MS);
	}
}

/* An option's number of at least 1; `otherwise` where the option was not given. */
static bool number_of(const struct request *request, char letter, unsigned long most,
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
			  .bar = isatty(STDERR_FILENO), .end = LLONG_MAX };
	unsigned long warm, timeout;
	int err, output;

	if (request->argument_count != 1)
		return report_usage(request->command, "one mount at a time");
	if (!number_of(request, 'w', 100, 100, &warm))
		return report_usage(request->command, "--warm takes percent, 1 to 100");
	if (!number_of(request, 't', INT_MAX, 0, &timeout))
		return report_usage(request->command, "--timeout takes seconds, 1 at least");
	w.percent = (unsigned)warm;
	if (timeout)
		w.end = bounded_now() + (long long)timeout * 1000;
	err = wait_for(&w);
	if (w.bar && w.begin)
		fputc('\n', stderr);
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
	.name = "wait", .usage = "[--warm PCT] [--timeout SECONDS] [--json] MOUNTPOINT",
	.summary = "Waits until a mount answers, or until so much of it is warm",
	.help = "    --warm PCT                      until the sweep has got so far, in percent\n"
		"    --timeout SECONDS               give up after that, with status 4\n",
	.shorts = "", .longs = longs, .run = run,
};
