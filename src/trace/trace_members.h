/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_members.h: text into a file, as members of gzip (RFC 1952), each whole or not there.
 *
 * Whatever ends the writer, all members before the last one can be read, by gzip(1) too. The
 * first one has a comment, by which a later mount knows a file that it may replace.
 *
 * Threads: one.
 */
#ifndef GRANARY_TRACE_TRACE_MEMBERS_H
#define GRANARY_TRACE_TRACE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct trace_members;

/*
 * For an empty file that is open for writing. NULL: memory is short, or zlib was left out.
 * `comment` must outlive it.
 */
struct trace_members *trace_members_new(int file, const char *comment);
void trace_members_free(struct trace_members *members);

/* Writes a member: 0, or a negative errno: nothing of it is in the file. */
int trace_members_write(struct trace_members *members, const void *text, size_t size);

/* Has the file a first member with this comment? Its offset does not change. */
bool trace_members_are_of(int file, const char *comment);

#endif
