/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notify.h: reports that the mount answers, or has failed.
 *
 * By datagrams to systemd, and others that set NOTIFY_SOCKET; and by one byte, `s` or
 * `f`, into the pipe of -o notify_pipe=PATH, as squashfuse does. Calls block for a second
 * at most, while systemd's queue is full.
 *
 * Threads: one.
 */
#ifndef GRANARY_OS_NOTIFY_H
#define GRANARY_OS_NOTIFY_H

#include <stdbool.h>

#include "base/error.h"

struct notify {
	int pipe; /* the FIFO, or -1 */
};

#define NOTIFY_INIT { .pipe = -1 }

/*
 * Opens the FIFO (NULL: none) without waiting for its reader, and removes NOTIFY_SOCKET
 * from the environment, so that child programs do not use it. A path that is not a
 * writable FIFO is an error with *e.
 */
int notify_open(struct notify *notify, const char *path, struct error *e);

/*
 * notify_open in two steps, for a FIFO that another process opens: its descriptor, or a
 * negative errno and *e; and the rest, with that descriptor or -1.
 */
int notify_open_fifo(const char *path, struct error *e);
void notify_adopt(struct notify *notify, int fifo);

/*
 * Reports that the mount answers (READY=1, MAINPID, `s`) or has failed (STATUS=, ERRNO=
 * by e->status, `f`). `status` is the sentence.
 */
void notify_ready(struct notify *notify, const char *status);
void notify_failed(struct notify *notify, const struct error *e);

/* Reports the unmount (STOPPING=1). */
void notify_stopping(void);

/*
 * Closes the FIFO. Closing would lose a byte that is not read yet: waits for the reader,
 * up to `milliseconds`. True: closed; false: not read yet (with 0: call again).
 */
bool notify_close(struct notify *notify, unsigned milliseconds);

/* For a child, which must not report: closes the FIFO. */
void notify_clear(struct notify *notify);

#endif
