/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_writer.h: the process that writes a mount's trace (os/file_writer.h).
 *
 * The process takes events from the ring, and writes a member of gzip each second, or each
 * 256 KiB of text. Events of a member that the file had no room for count as dropped. When the mount has
 * ended, however it did, the last events and a line `end` follow.
 */
#ifndef GRANARY_TRACE_TRACE_WRITER_H
#define GRANARY_TRACE_TRACE_WRITER_H

#include "base/error.h"
#include "trace/trace_lines.h"

/*
 * Makes the file, private to its user, and starts its writer; the ring is there (trace_share).
 * The senders' end, which the mount's processes keep open: the writer ends with the last of
 * them. Or a negative errno and a sentence: for a file that is there, if it is neither empty
 * nor an earlier trace of the same mount point; for a symbolic link; for another user's file;
 * for a file that another mount writes. `names` must live in the process.
 *
 * Threads: only while the process has one.
 */
int trace_writer_start(const struct trace_names *names, const char *path, struct error *e);

#endif
