/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.h: which file a child process is at, for a parent that waits as long as it gets on.
 *
 * What may hang for ever is run in a child, but how long it may take depends on how many
 * files it looks at. So the parent waits for the next one only (os/errand.h).
 *
 * Threads: one in each process.
 */
#ifndef GRANARY_OS_STEPS_H
#define GRANARY_OS_STEPS_H

#include <stdatomic.h>

/* In memory that parent and child share. */
struct steps {
	_Atomic unsigned count;
	char path[1024]; /* of the last one; its end may be missing */
};

/* In the child: they go there from now on. */
void steps_share(struct steps *steps);

/* It looks at `path` next. Nothing where steps_share was not called. */
void steps_at(const char *path);

#endif
