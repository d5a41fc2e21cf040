/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apart.h: a command's work on strangers' bytes, in a child without rights.
 *
 * What a command needs is opened before, with the caller's rights: packed files, the
 * index, the files that options name. Then the child has no rights (os/sandbox.h), and
 * does everything else: it parses, decodes, prints. The parent waits; where something has
 * to be done by its name the child asks it (os/hatch.h).
 */
#ifndef GRANARY_TOOL_APART_H
#define GRANARY_TOOL_APART_H

#include <sys/types.h>

#include "granary.h"
#include "source/source_set.h"
#include "os/hatch.h"

struct apart {
	const struct request *request;
	const struct source_set *sources; /* the parent opens these again */
	void (*begin)(void *context);     /* in the child, before it has no rights; or NULL */
	int (*work)(void *context);       /* in the child, afterwards: an exit status */
	int (*wait)(void *context, pid_t child); /* in the parent: an exit status; or NULL */
	void *context;
	hatch_serve *serve;               /* in the parent, or NULL: what APART_OWN begins */
	void *server;                     /* its context */
	unsigned channels;                /* as many as `serve` has, beside one */
};

/* The first channel is for what every command asks. */
enum { APART_SOURCE = 0, APART_OWN = 1 };

/*
 * Has the child do it, and waits for its end: its exit status. Without a `wait`: where it
 * crashes, that is a sentence and an exit status; any other signal ends the parent too. TERM,
 * INT and HUP that another process sends to the parent are the child's.
 */
int apart_run(const struct apart *apart);

/* The same of a command that has its dataset open, and nothing to ask: work(request). */
int apart_read(struct request *request, int (*work)(struct request *request));

/*
 * First thing in main: what the caller had open is not the child's business. 0 or a negative
 * errno. Not in a program that is handed what it works on.
 */
int apart_note_inherited(void);

/* In the child: asks the parent; see hatch_ask. Channels count from APART_OWN. */
struct hatch *apart_hatch(void);

#endif
