/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_text.h: the lines of a trace, plain or compressed by gzip(1), whole members or not.
 *
 * Anybody may have written the file. Memory is bounded: a line of more than 64 KiB is left
 * out, and so is all text behind 16 GiB of it.
 *
 * Threads: one.
 */
#ifndef GRANARY_REPORT_TRACE_TEXT_H
#define GRANARY_REPORT_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

struct trace_text;

/* From the beginning of the source: NULL if memory is short. */
struct trace_text *trace_text_new(const struct source *source);
void trace_text_free(struct trace_text *text);

/*
 * The next line, without its end, until the next call: 1; 0: there are no more; or a negative
 * errno: -ENOSYS: it is compressed, and zlib was left out.
 */
int trace_text_line(struct trace_text *text, const char **line, size_t *size);

/* Is the end of the file missing, or damaged? After the last line. */
bool trace_text_is_cut(const struct trace_text *text);

#endif
