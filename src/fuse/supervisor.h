/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * supervisor.h: the process that stays: it forks the server, and the next one when
 * that dies. Private to fuse/.
 *
 * One thread. It parses nothing and reads nothing of what strangers wrote; it keeps
 * the rights it was started with, to mount and unmount.
 */
#ifndef GRANARY_FUSE_SUPERVISOR_H
#define GRANARY_FUSE_SUPERVISOR_H

#include <stdbool.h>

#include "fuse/mount.h"
#include "fuse/slots.h"
#include "os/notify.h"

/* A server's exit status: it could not begin, and another one may, in a while. */
enum { SUPERVISE_AGAIN = 75 };

struct supervision {
	/*
	 * In the child of `supervisor`: serves until the connection ends; its status.
	 * `crashed`: the server before did, or starved; others have not killed it.
	 */
	int (*serve)(void *context, pid_t supervisor, bool crashed);
	void *context;
	struct slots *slots;
	const struct mount *mount;
	int connection;         /* to the kernel */
	struct notify *notify;
	unsigned timeout;       /* seconds without use until it is unmounted; 0: never */
	/*
	 * A daemon that its caller still waits for: a descriptor that is no server's
	 * business, and servers leave the caller's session. -1: it has left, or is none.
	 */
	int report;
};

struct supervisor;

/* Starts the first server. `what` must outlive it. NULL and errno. */
struct supervisor *supervise_start(const struct supervision *what);

/* Ends the server; only where supervise is not called. NULL is nothing. */
void supervise_abandon(struct supervisor *supervisor);

/*
 * Until the filesystem is unmounted, by anybody: 0. Frees the supervisor. TERM, INT and HUP take it out of
 * the tree and serve on until the last open file is closed; a second one ends at
 * once. USR1 writes the counters to the log. -EIO: servers died again and again; the
 * mount is left, dead, because an error is better than an empty directory.
 */
int supervise(struct supervisor *supervisor);

#endif
