/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sandbox_child.h: runs the part of a command that reads packed bytes in a child without
 * rights.
 *
 * The parent opens everything first, with the caller's rights: packed files, the index,
 * the files of options. The child enters the sandbox (os/sandbox.h), then parses, decodes
 * and prints. For a file by its name the child asks the parent (os/broker.h), which
 * waits.
 */
#ifndef GRANARY_TOOL_SANDBOX_CHILD_H
#define GRANARY_TOOL_SANDBOX_CHILD_H

#include <sys/types.h>

#include "granary.h"
#include "source/source_set.h"
#include "os/broker.h"

struct sandbox_child {
	const struct request *request;
	const struct source_set *sources; /* the parent opens these again */
	void (*begin)(void *context);     /* in the child, before it has no rights; or NULL */
	int (*work)(void *context);       /* in the child, afterwards: an exit status */
	int (*wait)(void *context, pid_t child); /* in the parent: an exit status; or NULL */
	void *context;
	broker_serve *serve;
		             /* in the parent: channels from SANDBOX_CHILD_OWN on */
	void *server;                     /* the context of `serve` */
	unsigned channels;                /* channels of `serve` */
};

/* Every command uses the first channel, for sources. */
enum { SANDBOX_CHILD_SOURCE = 0, SANDBOX_CHILD_OWN = 1 };

/*
 * Forks the child and waits for its end: its exit status. Without `wait`, a crash of the
 * child prints an error; any other signal that ended the child ends the parent too. TERM,
 * INT and HUP that another process sends to the parent are passed on to the child.
 */
int sandbox_child_run(const struct sandbox_child *apart);

/* For a command with an open dataset and no channel of its own: runs work(request). */
int sandbox_child_read(struct request *request, int (*work)(struct request *request));

/* Fills in the error of a child that crashed: its wait status. Returns -EBADMSG. */
int sandbox_child_crash(const struct request *request, const struct source_set *sources,
			int status, struct error *e);

/*
 * Call it first in main: notes the descriptors that the caller left open, which the child
 * closes. Not for a program that gets its files by descriptor. 0 or a negative errno.
 */
int sandbox_child_note_inherited(void);

/* In the child: for broker_call, on channels from SANDBOX_CHILD_OWN on. */
struct broker *sandbox_child_broker(void);

#endif
