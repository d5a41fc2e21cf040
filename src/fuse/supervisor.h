/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * supervisor.h: forks the server, and its successor when it dies. Private to fuse/.
 *
 * One thread, which parses no packed bytes. It keeps the rights it was started with, to
 * mount and unmount.
 */
#ifndef GRANARY_FUSE_SUPERVISOR_H
#define GRANARY_FUSE_SUPERVISOR_H

#include <stdbool.h>

#include "fuse/front_watch.h"
#include "fuse/mount.h"
#include "fuse/slots.h"
#include "os/notify.h"

/* Exit status of a server that could not start; another one may, later. */
enum { SUPERVISE_AGAIN = 75 };

struct supervision {
	/*
	 * In the child of `supervisor`: serves until the connection ends; its status.
	 * `crashed`: the previous server crashed or starved, and was not killed.
	 */
	int (*serve)(void *context, pid_t supervisor, bool crashed);
	void *context;
	struct slots *slots;
	const struct mount *mount;
	struct front_watch *watch; /* NULL: no front comes later */
	int connection;         /* to the kernel */
	struct notify *notify;
	unsigned timeout;       /* seconds without use until it is unmounted; 0: never */
	/*
	 * While the launcher waits: a descriptor that servers close; they also leave the
	 * caller's session. -1: no launcher waits.
	 */
	int report;
};

struct supervisor;

/* Starts the first server. `what` must outlive it. NULL and errno. */
struct supervisor *supervise_start(const struct supervision *what);

/* Ends the server, if supervise is not called. NULL is allowed. */
void supervise_abandon(struct supervisor *supervisor);

/*
 * Serves until any process unmounts the filesystem: 0. Frees the supervisor. TERM, INT
 * and HUP detach the mount, which is served until its last file is closed; a second
 * signal ends it at once. USR1 logs the counters. -EIO: servers died again and again; the
 * dead mount stays, for an error is better than an empty directory.
 */
int supervise(struct supervisor *supervisor);

#endif
