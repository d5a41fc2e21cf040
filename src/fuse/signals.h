/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signals.h: the signals of supervisor and server. Private to fuse/.
 */
#ifndef GRANARY_FUSE_SIGNALS_H
#define GRANARY_FUSE_SIGNALS_H

#include <signal.h>

/*
 * Ends a server without a successor; the kernel sends it if the supervisor dies. The
 * server closes the connection first: a thread that waits for storage would hold it open,
 * and readers would wait as long.
 */
#define SUPERVISE_END SIGUSR2

/*
 * In the process that becomes the supervisor: blocks the signals that it handles (TERM,
 * INT, HUP, USR1, CHLD) until it reads them, and SUPERVISE_END until a server handles it.
 * Ignores all others that end a program without a crash: 0 or a negative errno.
 */
int signals_block(void);

/* A signalfd of the supervisor's signals, or a negative errno. */
int signals_open(void);

/* In a server: SUPERVISE_END calls `end` from now on. */
void signals_handle_end(void (*end)(int number));

#endif
