/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signals.h: which signals supervisor and server act on. Private to fuse/.
 */
#ifndef GRANARY_FUSE_SIGNALS_H
#define GRANARY_FUSE_SIGNALS_H

#include <signal.h>

/*
 * What ends a server that is to have no successor, and what the kernel sends it if the
 * supervisor dies. It closes the connection first: a thread of it that storage keeps
 * would hold that open, and whoever reads would wait as long as that.
 */
#define SUPERVISE_END SIGUSR2

/*
 * In who becomes the supervisor. Blocks the signals that it acts on: TERM, INT, HUP, USR1
 * and CHLD wait until it reads them. SUPERVISE_END is blocked, too, until a server
 * heeds it, and whatever else would end a program without a crash is ignored: 0 or a
 * negative errno.
 */
int signals_block(void);

/* A signalfd of those that the supervisor acts on, or a negative errno. */
int signals_open(void);

/* In a server: SUPERVISE_END calls `end` from now on. */
void signals_heed_end(void (*end)(int number));

#endif
