/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log.h: one line a message, to standard error, a file, or syslog.
 *
 * The default is standard error. Debug messages cost one test of a variable while they
 * are off. Control characters in a message are written as octal escapes, so that a name
 * in an archive cannot forge a line or control a terminal.
 *
 * Threads: every function may be called from any thread; set-up functions
 * (log_open, log_to_lines, log_to_syslog) before the threads start.
 */
#ifndef GRANARY_BASE_LOG_H
#define GRANARY_BASE_LOG_H

#include <stddef.h>

#include "base/error.h"

/* A notice is output that the user asked for: it is never dropped. */
enum log_level {
	LOG_LEVEL_NOTICE,
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* `program` must outlive the log. Messages above `level` are dropped. */
void log_open(const char *program, enum log_level level);

/*
 * From now on `write_line` gets the lines, each with the time (UTC), the process and its end
 * (os/log_file.h has them written to a file). It returns 0 or a negative errno: the line is
 * lost, and the next one that is taken says so. With -EPIPE no line will be taken any more:
 * this one and all others go where they would without `write_line`.
 */
void log_to_lines(int (*write_line)(const char *line, size_t size));

/* Sends lines to `sink` only, with control characters escaped. */
void log_set_sink(void (*sink)(enum log_level level, const char *line));

/*
 * From now on lines go to syslog; where somebody takes them (log_to_lines), still there. Where there is no
 * syslog they are only in the ring, which has the last ones in any case (base/log_ring.h).
 */
void log_to_syslog(void);

void log_write(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

extern enum log_level log_level_now;

#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)                                            \
	do {                                                      \
		if (log_level_now >= LOG_LEVEL_DEBUG)             \
			log_write(LOG_LEVEL_DEBUG, __VA_ARGS__);  \
	} while (0)

/*
 * Limits messages about reads, since a broken disk can fail a million: true at most
 * `burst` times in ten seconds. The first refusal logs that messages are dropped.
 */
int log_allowed(unsigned burst);

#endif
