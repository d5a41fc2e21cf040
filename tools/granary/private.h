/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h: a private mount namespace, with mounts for one command.
 */
#ifndef GRANARY_TOOL_PRIVATE_H
#define GRANARY_TOOL_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A dataset and its mount point. */
struct private_mount {
	char *source;
	char *directory;
};

/*
 * Later mounts are seen by this process and its children only; unmounts outside still
 * arrive. Makes a user namespace too, in which the caller keeps its ids, where the right
 * to mount needs one. 0, or a negative errno and *e with the remedy.
 */
int private_enter(struct error *e);

/*
 * Then mounts the datasets by the granaryfs at `daemon`, with -o `options` (NULL: none),
 * for this process and its children. When the last of these ends, so do the mounts and
 * daemons. 0, or an exit status with the error printed and nothing left mounted.
 */
int private_mount_all(const struct private_mount *mounts, size_t count, const char *daemon,
		      const char *options);

#endif
