#include "util/controls.h"
#include "util/log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "util/log_ring.h"
#include "util/place.h"

enum { LINE_MAX_BYTES = 4096, PERIOD_SECONDS = 10 };

enum log_level log_level_now = LOG_LEVEL_WARN;
static const char *log_program = "granary";
static int log_syslog;
static int log_file = -1;
static void (*log_sink)(enum log_level level, const char *line);
static _Atomic unsigned long log_lost; /* lines that the file had no room for, */
static _Atomic int log_torn;           /* the last of them but for its beginning */

void log_open(const char *program, enum log_level level)
{
	log_program = program;
	log_level_now = level;
}

static int refuse(const char *path, int errnum, const char *why, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, errnum, "-o log=%s: %s; name a file in a folder that is "
			 "there and can be written", path, why);
}

int log_open_file(const char *path, struct error *e)
{
	/* not to wait, for a FIFO's reader or a terminal's carrier */
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	const char *other = "is neither a file nor a device; name a file, or log to "
			    "standard error with -f";
	int fd = place_open_file(path, flags, 0640, e);
	struct stat st;

	if (fd == -EPERM)
		return fd;
	if (fd < 0)
		return refuse(path, -fd, fd == -ENXIO ? other : strerror(-fd), e);
	if (fstat(fd, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))) {
		close(fd);
		return refuse(path, EINVAL, other, e);
	}
	return fd;
}

void log_to_descriptor(int fd)
{
	if (log_file >= 0)
		close(log_file);
	log_file = fd;
	signal(SIGXFSZ, SIG_IGN); /* a full file is no reason to end */
}

int log_to_file(const char *path, struct error *e)
{
	int fd = log_open_file(path, e);

	if (fd < 0)
		return fd;
	log_to_descriptor(fd);
	return 0;
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
		return; /* nowhere left to say so */
}

/* 2026-11-21T19:28:30.123Z: sorts, and means the same everywhere. */
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

/* The line with its time and process, behind `before`: how long it is. */
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

static void keep(const char *line)
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
	keep(line);
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
