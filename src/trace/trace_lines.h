/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_lines.h: events as lines of JSON, as DFTracer 2.1.1 and later write them.
 *
 * One object a line. A file has its path in a line FH, before the first event that has its
 * hash (fhash); the machine has one in HH. Reads of the mount are `read` of POSIX; all else
 * has a category of its own, so that no byte is counted twice: FUSE, STORAGE, DECODE, PUSH.
 * Shapes: dftracer's docs/trace_format.rst and src/dftracer/core/serialization/json_line.cpp.
 *
 * Threads: one.
 */
#ifndef GRANARY_TRACE_TRACE_LINES_H
#define GRANARY_TRACE_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/trace.h"

/* Where events get their paths from. */
struct trace_names {
	/* The path of a node, or false. */
	bool (*node)(const void *context, uint64_t node, char *out, size_t size);
	/* The path of source `i` and its subject in events, or NULL: there are no more. */
	const char *(*source)(const void *context, size_t i, uint64_t *subject);
	const void *context;
	uint64_t nodes;         /* numbers of nodes are smaller */
	const char *dataset;    /* for the first line */
	const char *mountpoint; /* as is this one */
};

struct trace_lines;

/* Writes to `out`, which the caller owns: NULL if memory is short. */
struct trace_lines *trace_lines_new(const struct trace_names *names, FILE *out);
void trace_lines_free(struct trace_lines *lines);

/* The first lines: the process, its machine, and all sources. */
void trace_lines_begin(struct trace_lines *lines);
void trace_lines_add(struct trace_lines *lines, const struct trace_event *event);

/* The lines before were lost: paths are written once more, before they are used again. */
void trace_lines_name_again(struct trace_lines *lines);

/* So many events were dropped so far: a line if that has changed. */
void trace_lines_dropped(struct trace_lines *lines, uint64_t dropped);
void trace_lines_end(struct trace_lines *lines, uint64_t dropped);

#endif
