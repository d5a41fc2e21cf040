/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_events.h: requests of the kernel, in histograms and in the mount's trace
 * (trace/trace.h). Private to fuse/.
 *
 * Threads: any.
 */
#ifndef GRANARY_FUSE_REQUEST_EVENTS_H
#define GRANARY_FUSE_REQUEST_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fuse/ops.h"
#include "stats/stats.h"
#include "trace/trace.h"

/* Of the request's opcode. */
enum histogram request_histogram(uint32_t opcode);

/* When a request of the trace begins; 0 where there is none. */
static inline uint64_t request_event_begin(void)
{
	return trace_is_on() ? stats_clock() : 0;
}

/* A read was answered with `n` bytes, or a negative errno. */
void request_event_read(uint32_t node, uint64_t begin, size_t size, uint64_t offset,
			ssize_t n, const struct read_context *context);

/* Any other request was answered; of a read this is nothing. */
void request_event(const struct served *served, enum histogram histogram, uint64_t nodeid,
		   uint64_t begin, uint64_t took);

#endif
