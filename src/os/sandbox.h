/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sandbox.h: takes all rights from a process that parses packed bytes.
 *
 * Open descriptors keep the rights that they were opened with: bytes come and go through
 * these only. The parent opens files by name (os/broker.h).
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
 *   stays root there.
 * - No capability in any set, and no program that it runs gets more (rights_renounce).
 * - No file system and no network (Landlock), and no system calls but those of
 *   os/syscalls.h. A kernel that lacks either does without: `granary doctor` says so.
 * - It may allocate three quarters of the memory that is available, 1 GiB at least.
 * - It leaves no core dump, and ends with its parent.
 *
 * 0, or a negative errno and a sentence, and then the process must end.
 */
int sandbox_enter(struct error *e);

/*
 * For a process without rights that opens files: from now on it cannot make, change, run
 * or remove files, as far as the kernel has Landlock. Open descriptors are not affected.
 */
void sandbox_forbid_changes(void);

/* The restrictions that this kernel supports. */
struct sandbox_support {
	bool calls;    /* system calls: seccomp(2) */
	int landlock;  /* version of its interface; 0: missing or off */
	bool nobody;   /* root can become nobody; true for other users */
};
void sandbox_probe(struct sandbox_support *out);

#endif
