/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/controls.h"
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/log_ring.h"

enum { LINE_MAX_BYTES = 4096, PERIOD_SECONDS = 10 };

enum log_level log_level_now = LOG_LEVEL_WARN;
static const char *log_program = "granary";
static int log_syslog;
static int log_file = -1;
static void (*log_sink)(enum log_level level, const char *line);
static _Atomic unsigned long log_lost; /* lines lost for lack of room in the file */
static _Atomic int log_torn;           /* the last of them was written in part */

void log_open(const char *program, enum log_level level)
{
	log_program = program;
	log_level_now = level;
}

void log_to_descriptor(int fd)
{
	if (log_file >= 0)
		close(log_file);
	log_file = fd;
	signal(SIGXFSZ, SIG_IGN); /* a file at its size limit must not end the process */
}

void log_to(void (*sink)(enum log_level level, const char *line))
{
	log_sink = sink;
}

void log_to_syslog(void)
{
	if (log_file >= 0)
		return;
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
static void print_time(char *text, size_t size)
{
	struct timespec now;
	struct tm utc;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	n = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + n, size - n, ".%03ldZ", now.tv_nsec / 1000000);
}

/* Formats the line with time and process, behind `before`; returns its length. */
static size_t stamp(const char *before, const char *line, char *whole, size_t size)
{
	char time[64];
	int n;

	print_time(time, sizeof(time));
	n = snprintf(whole, size, "%s%s %s[%ld]: %s\n", before, time,
		     log_program, (long)getpid(), line);
	return n < (int)size ? (size_t)n : size - 1;
}

static void write_file(const char *line)
{
	char whole[LINE_MAX_BYTES + 192], with_lost[LINE_MAX_BYTES + 64];
	unsigned long missing = atomic_exchange(&log_lost, 0);
	bool torn = atomic_exchange(&log_torn, 0);
	ssize_t written;
	size_t n;

	if (missing) {
		snprintf(with_lost, sizeof(with_lost), "(%lu lines were lost) %s", missing, line);
		line = with_lost;
	}
	n = stamp(torn ? "\n" : "", line, whole, sizeof(whole));
	written = write(log_file, whole, n);
	if (written == (ssize_t)n)
		return;
	atomic_fetch_add(&log_lost, missing + 1);
	atomic_store(&log_torn, torn || written > 0);
}

static void write_ring(const char *line)
{
	char whole[LINE_MAX_BYTES + 192];

	log_ring_add(whole, stamp("", line, whole, sizeof(whole)));
}

void log_write(enum log_level level, const char *format, ...)
{
	static const int priority[] = {
		[LOG_LEVEL_NOTICE] = LOG_NOTICE,
		[LOG_LEVEL_ERROR] = LOG_ERR, [LOG_LEVEL_WARN] = LOG_WARNING,
		[LOG_LEVEL_INFO] = LOG_INFO, [LOG_LEVEL_DEBUG] = LOG_DEBUG,
	};
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
	write_ring(line);
	if (log_file >= 0)
		write_file(line);
	else if (log_syslog)
		syslog(priority[level], "%s", line);
	else
		write_stderr(line);
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
