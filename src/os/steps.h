/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.h: the progress of a child process, for a parent with a deadline for each step.
 *
 * Work that may hang runs in a child, and its time depends on the number of files. So the
 * parent waits for the next file only (os/opener.h).
 *
 * Threads: one in each process.
 */
#ifndef GRANARY_OS_STEPS_H
#define GRANARY_OS_STEPS_H

#include <stdatomic.h>

/* In memory that parent and child share. */
struct steps {
	_Atomic unsigned count;
	char path[1024]; /* of the latest file; may be cut off */
};

/* In the child: steps are written there from now on. */
void steps_share(struct steps *steps);

/* The child opens `path` next. Does nothing without steps_share. */
void steps_record(const char *path);

#endif
