#include "util/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, PERIOD_SECONDS = 10 };

enum log_level log_level_now = LOG_LEVEL_WARN;
static const char *log_program = "granary";
static int log_syslog;

void log_open(const char *program, enum log_level level)
{
	log_program = program;
	log_level_now = level;
}

void log_to_syslog(void)
{
	openlog(log_program, LOG_PID, LOG_DAEMON);
	log_syslog = 1;
}

/* Bytes above 127 stay: they are somebody's language. */
static void escape_controls(const char *text, char *line, size_t room)
{
	size_t n = 0;

	for (; *text && n + 5 < room; text++) {
		unsigned char c = (unsigned char)*text;

		if (iscntrl(c))
			n += (size_t)snprintf(line + n, 5, "\\%03o", c);
		else
			line[n++] = (char)c;
	}
	line[n] = '\0';
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
	escape_controls(text, line, sizeof(line));
	if (log_syslog)
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
