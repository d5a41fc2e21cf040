/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inherited.h: the descriptors that the caller of a program left open.
 *
 * A lock file, the other end of a pipe: a daemon must not keep them. But an argument may be
 * one of them (/dev/fd/N), and so they are noted first, and closed when all that the daemon
 * needs is open.
 *
 * Threads: one.
 */
#ifndef GRANARY_OS_INHERITED_H
#define GRANARY_OS_INHERITED_H

#include "base/vec.h"

struct inherited {
	VEC(int) descriptors; /* all but 0 to 2 */
};

/* Notes those that are open now: 0 or -ENOMEM. None where /proc is not mounted. */
int inherited_note(struct inherited *inherited);

/* Closes them, but for the one that is `kept`; -1 is none. */
void inherited_close(const struct inherited *inherited, int kept);

void inherited_free(struct inherited *inherited);

/* Opens descriptors 0 to 2 where they are closed, or a file would become one of them. */
void inherited_guard_streams(void);

/* Lets /dev/null take the place of the caller's standard streams. */
void inherited_leave_streams(void);

#endif
