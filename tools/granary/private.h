/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h: a mount namespace of one's own, and in it what is mounted for one command.
 *
 * Threads: one, and the process must have no other.
 */
#ifndef GRANARY_TOOL_PRIVATE_H
#define GRANARY_TOOL_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* One dataset, and where it is to be. */
struct private_mount {
	char *source;
	char *directory;
};

/*
 * From now on what this process mounts is seen by it and its children only; unmounts of
 * others still arrive. A user namespace, in which the caller keeps its ids, is made
 * where that takes one. 0, or a negative errno and a sentence with the remedy.
 */
int private_enter(struct error *e);

/*
 * After that: mounts them by granaryfs, which lies at `daemon`, with -o `options` (NULL:
 * none), for this process and those that it starts or becomes. When the last of these has
 * ended, the mounts and their daemons end too, for nobody else holds them. 0, or an exit
 * status, and then nothing is left; the error is printed.
 */
int private_mount_all(const struct private_mount *mounts, size_t count, const char *daemon,
		      const char *options);

#endif
