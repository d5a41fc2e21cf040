/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notify.h: tells whoever waits that the mount answers, or never will.
 *
 * To systemd (and everything else that sets NOTIFY_SOCKET), by its datagrams; and
 * into the pipe of -o notify_pipe=PATH: one byte, `s` or `f`, as squashfuse does.
 * Nothing here blocks for longer than its own bound: a second for a datagram, while
 * systemd's queue is full.
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
 * Opens the FIFO (NULL: none) without waiting for its reader, and takes NOTIFY_SOCKET
 * out of the environment: child programs must not speak for us. What is no FIFO, or
 * may not be written, is an error and a sentence.
 */
int notify_open(struct notify *notify, const char *path, struct error *e);

/*
 * notify_open in two steps, for who opens the FIFO in another process: its descriptor, or
 * a negative errno and a sentence; and the rest, with such a descriptor or -1.
 */
int notify_open_fifo(const char *path, struct error *e);
void notify_adopt(struct notify *notify, int fifo);

/*
 * The mount answers (READY=1 and MAINPID of this process, `s`) or will not (STATUS=,
 * ERRNO= as far as e->status tells, `f`). `status` is the sentence.
 */
void notify_ready(struct notify *notify, const char *status);
void notify_failed(struct notify *notify, const struct error *e);

/* The mount is going (STOPPING=1). */
void notify_stopping(void);

/*
 * Closes the FIFO. A byte that its reader has not yet taken would be lost with it:
 * waits for up to `milliseconds` until it is taken. True: it is closed; false:
 * not yet taken (with 0 milliseconds: ask again).
 */
bool notify_close(struct notify *notify, unsigned milliseconds);

/* For a child: what its parent has to say is none of its business. */
void notify_forget(struct notify *notify);

#endif
