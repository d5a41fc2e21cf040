/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_ring.h: the last lines of a log, in memory that processes share.
 *
 * Syslog may not be there (containers), or not be for who mounts. The lines are kept here
 * as well, outlive the process that wrote them, and can be read in the mount.
 *
 * Threads: log_ring_make before there are others; the rest any, of any process, without a
 * lock. What one writes while another reads or dies may look torn.
 */
#ifndef GRANARY_BASE_LOG_RING_H
#define GRANARY_BASE_LOG_RING_H

#include <stddef.h>

enum { LOG_RING_BYTES = 32 << 10 };

/* Where there is no memory for it, no line is kept. */
void log_ring_make(void);

/* A line with its newline. */
void log_ring_add(const char *line, size_t length);

/*
 * What is kept, whole lines, the oldest first: how many bytes, `room` at most. No control
 * characters but newlines.
 */
size_t log_ring_text(char *out, size_t room);

#endif
