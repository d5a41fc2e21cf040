/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inherited.h: the descriptors that the caller of a program left open.
 *
 * A daemon must not keep a lock file or the end of a pipe open. But an argument may name
 * one of them (/dev/fd/N): so they are noted first, and closed when all files are open.
 *
 * Threads: one.
 */
#ifndef GRANARY_OS_INHERITED_H
#define GRANARY_OS_INHERITED_H

#include "base/vec.h"

struct inherited {
	VEC(int) descriptors; /* all but 0 to 2 */
};

/* Notes the open descriptors: 0 or -ENOMEM. None where /proc is not mounted. */
int inherited_list(struct inherited *inherited);

/* Closes them, except `kept` (-1: none). */
void inherited_close(const struct inherited *inherited, int kept);

void inherited_free(struct inherited *inherited);

/* Opens descriptors 0 to 2 if closed: else a file would become a standard stream. */
void inherited_guard_streams(void);

/* Replaces the caller's standard streams by /dev/null. */
void inherited_replace_streams(void);

#endif
