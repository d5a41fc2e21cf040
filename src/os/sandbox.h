/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sandbox.h: the rights of a process that works on what strangers wrote: none.
 *
 * Descriptors that are open stay open, with the rights that they were opened with: bytes
 * come in and go out by these alone. Names are opened by the parent (os/hatch.h).
 *
 * Threads: only while the process has one.
 */
#ifndef GRANARY_OS_SANDBOX_H
#define GRANARY_OS_SANDBOX_H

#include <stdbool.h>

#include "base/error.h"

/*
 * In a child of the process that has the rights, for good:
 *
 * - root becomes nobody, with no other groups. In a user namespace that has no such id it
 *   stays who it is there.
 * - No capability in any set, and no program that it runs gets more (rights_renounce).
 * - No file system and no network (Landlock), and no system calls but those of
 *   os/syscalls.h. A kernel that lacks either does without: `granary doctor` says so.
 * - It leaves no core dump, and ends with its parent.
 *
 * 0, or a negative errno and a sentence, and then the process must end.
 */
int sandbox_enter(struct error *e);

/*
 * Of a process that has given up its rights and opens files: from now on it makes, changes,
 * runs and removes none, as far as the kernel has Landlock. What is open stays as it is.
 */
void sandbox_forbid_changes(void);

/* What the kernel, as it is here, can take away. */
struct sandbox_support {
	bool calls;    /* system calls: seccomp(2) */
	int landlock;  /* the version of its interface; 0: it has none, or it is off */
	bool nobody;   /* root can become that; true for who is not root */
};
void sandbox_look(struct sandbox_support *out);

#endif
