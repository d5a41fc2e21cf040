/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file_writer.h: a process that writes one file, so that the file's storage may hang.
 *
 * The process has a socket and the file, no other descriptors, no rights, and a session of
 * its own. The other end of the socket belongs to the processes that have something to be
 * written: when the last copy is closed, the socket says so, and the writer ends. Only SIGKILL
 * ends it before.
 */
#ifndef GRANARY_OS_FILE_WRITER_H
#define GRANARY_OS_FILE_WRITER_H

#include "base/error.h"

/* All that the process has open. */
enum { WRITER_SOCKET = 0, WRITER_FILE = 1 };

struct file_writer {
	const char *name;    /* of the process, in ps */
	const char *subject; /* "the log", in messages */
	void (*work)(void *context);
	void *context;       /* a copy in the process */
};

/*
 * Starts it for an open file, with the rights that this process effectively has: the
 * senders' end of the socket (SOCK_SEQPACKET), which is the caller's, or a negative errno
 * and a sentence. `file` is closed.
 *
 * Threads: only while the process has one.
 */
int file_writer_start(const struct file_writer *writer, int file, struct error *e);

#endif
