/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/controls.h"
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/log_ring.h"

enum { LINE_MAX_BYTES = 4096, PERIOD_SECONDS = 10 };

enum log_level log_level_now = LOG_LEVEL_WARN;
static const char *log_program = "granary";
static int log_syslog;
static int (*log_lines)(const char *line, size_t size);
static void (*log_sink)(enum log_level level, const char *line);
static _Atomic unsigned long log_lost; /* lines that were not taken */
static _Atomic int log_left;           /* nobody takes lines any more: said once */

void log_open(const char *program, enum log_level level)
{
	log_program = program;
	log_level_now = level;
}

void log_to_lines(int (*write_line)(const char *line, size_t size))
{
	log_lines = write_line;
}

void log_set_sink(void (*sink)(enum log_level level, const char *line))
{
	log_sink = sink;
}

void log_to_syslog(void)
{
	openlog(log_program, LOG_PID, LOG_DAEMON);
	log_syslog = 1;
}

static void write_stderr(const char *line)
{
	char whole[LINE_MAX_BYTES + 64];
	int n = snprintf(whole, sizeof(whole), "%s: %s\n", log_program, line);

	if (n >= (int)sizeof(whole))
		n = sizeof(whole) - 1;
	/* One write, so that lines of several processes do not mix. */
	if (write(STDERR_FILENO, whole, (size_t)n) < 0)
		return; /* no channel left to report this */
}

/* 2026-11-21T19:28:30.123Z */
static void log_print_time(char *text, size_t size)
{
	struct timespec now;
	struct tm utc;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	n = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + n, size - n, ".%03ldZ", now.tv_nsec / 1000000);
}

/* The line with its time and process: how long it is. */
static size_t stamp(const char *line, char *whole, size_t size)
{
	char time[64];
	int n;

	log_print_time(time, sizeof(time));
	n = snprintf(whole, size, "%s %s[%ld]: %s\n", time, log_program,
		     (long)getpid(), line);
	return n < (int)size ? (size_t)n : size - 1;
}

static void log_write_sink(enum log_level level, const char *line)
{
	static const int priority[] = {
		[LOG_LEVEL_NOTICE] = LOG_NOTICE,
		[LOG_LEVEL_ERROR] = LOG_ERR, [LOG_LEVEL_WARN] = LOG_WARNING,
		[LOG_LEVEL_INFO] = LOG_INFO, [LOG_LEVEL_DEBUG] = LOG_DEBUG,
	};

	if (log_syslog)
		syslog(priority[level], "%s", line);
	else
		write_stderr(line);
}

/* False: nobody takes lines, or not any more. */
static int log_pass_on(const char *line)
{
	char whole[LINE_MAX_BYTES + 192], with_lost[LINE_MAX_BYTES + 64];
	unsigned long missing;
	int err;

	if (!log_lines || atomic_load(&log_left))
		return 0;
	missing = atomic_exchange(&log_lost, 0);
	if (missing) {
		snprintf(with_lost, sizeof(with_lost), "(%lu lines were lost) %s", missing, line);
		line = with_lost;
	}
	err = log_lines(whole, stamp(line, whole, sizeof(whole)));
	if (err == -EPIPE && !atomic_exchange(&log_left, 1))
		log_write_sink(LOG_LEVEL_WARN, "the process that writes the log's file was "
			       "ended: lines go here from now on");
	else if (err && err != -EPIPE)
		atomic_fetch_add(&log_lost, missing + 1);
	return err != -EPIPE;
}

static void log_store_line(const char *line)
{
	char whole[LINE_MAX_BYTES + 192];

	log_ring_add(whole, stamp(line, whole, sizeof(whole)));
}

void log_write(enum log_level level, const char *format, ...)
{
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES];
	va_list args;

	if (level > log_level_now)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	controls_escape(text, line, sizeof(line));
	if (log_sink) {
		log_sink(level, line);
		return;
	}
	log_store_line(line);
	if (!log_pass_on(line))
		log_write_sink(level, line);
}

int log_allowed(unsigned burst)
{
	static _Atomic long period;
	static _Atomic unsigned used;
	struct timespec now;
	long mine, seen;
	unsigned n;

	clock_gettime(CLOCK_MONOTONIC, &now);
	mine = now.tv_sec / PERIOD_SECONDS + 1;
	seen = atomic_load(&period);
	if (seen != mine && atomic_compare_exchange_strong(&period, &seen, mine))
		atomic_store(&used, 0);
	n = atomic_fetch_add(&used, 1);
	if (n == burst)
		log_warn("more of these: left out for up to %d seconds",
			 PERIOD_SECONDS);
	return n < burst;
}
