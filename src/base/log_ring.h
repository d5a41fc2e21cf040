/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_ring.h: the last lines of a log, in shared memory.
 *
 * Syslog may not exist (containers) or not be readable by the user. These lines outlive
 * the process that wrote them, and can be read in the mount.
 *
 * Threads: log_ring_make before others start; the rest any, of any process, without a
 * lock. A concurrent write or a writer's death may give a torn line.
 */
#ifndef GRANARY_BASE_LOG_RING_H
#define GRANARY_BASE_LOG_RING_H

#include <stddef.h>

enum { LOG_RING_BYTES = 32 << 10 };

/* Without memory no line is kept. */
void log_ring_make(void);

/* Adds a line with its newline. */
void log_ring_add(const char *line, size_t length);

/*
 * Copies the kept lines, whole and the oldest first; returns the bytes, at most `room`.
 * No control characters but newlines.
 */
size_t log_ring_text(char *out, size_t room);

#endif
