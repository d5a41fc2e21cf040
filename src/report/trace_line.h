/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_line.h: one line of a trace of DFTracer's, of either dialect: phases are numbers since
 * 2.1.1, and letters before.
 *
 * Threads: any.
 */
#ifndef GRANARY_REPORT_TRACE_LINE_H
#define GRANARY_REPORT_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pyjson.h"

enum line_kind {
	LINE_OTHER, /* of no use here */
	LINE_READ, LINE_REQUEST, LINE_STORAGE, LINE_DECODE, LINE_PUSH,
	LINE_FILE,    /* FH: text is the path */
	LINE_START,   /* text: the writer, dataset and mount point follow */
	LINE_DROPPED, /* result: how many events */
};

struct trace_line {
	enum line_kind kind;
	uint64_t ts, dur; /* microseconds */
	uint64_t file;    /* a digest of the file's hash; 0: none */
	uint64_t offset;
	int64_t result;   /* bytes, or negative */
	uint64_t storage; /* of a read: reads of storage for it; of those: 1 for a request */
	uint64_t pid, tid;
	bool is_open;     /* a request that programs send at an open() */
	struct pyjson_value name; /* of the event; FH: of the file; start: of the dataset */
	struct pyjson_value mountpoint;
};

/* False: the line is no object. Values are parts of the text. */
bool trace_line_parse(const char *text, size_t size, struct trace_line *out);

#endif
