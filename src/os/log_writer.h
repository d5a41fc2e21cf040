/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_writer.h: a process that writes the log's file, so that its storage may hang.
 *
 * The processes of a mount share the sending end of a socket, which takes whole lines and
 * never blocks. The writer looks at a line, writes it, and only then takes it off the
 * socket. So a sender sees when a line is in the file, and waits for that, since readers
 * look at a log at once: for 200 ms at most, and no more once the writer was seen to hang,
 * until it has written all. About 250 lines wait in the socket; those beyond are lost, and
 * counted (base/log.h). A line that the file has no room for is lost and counted as well.
 *
 * The writer ends with the last sending end. It has no other descriptors, no rights, and
 * a session of its own; only SIGKILL ends it before.
 */
#ifndef GRANARY_OS_LOG_WRITER_H
#define GRANARY_OS_LOG_WRITER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Starts a writer for a file that is open for appending, with the rights that this process
 * effectively has: the sending end, which is the caller's, or a negative errno and a
 * sentence. `file` is closed.
 *
 * Threads: only while the process has one.
 */
int log_writer_start(int file, struct error *e);

/*
 * The log goes to this sending end from now on, and the log takes it over. Where the writer
 * was killed, lines go to syslog, or to standard error, as without a file.
 */
void log_writer_use(int sender);

/* Has the writer written all lines that were sent? Lines of other senders count, too. */
bool log_writer_is_flushed(void);

#endif
