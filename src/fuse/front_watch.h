/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * front_watch.h: puts a front before a mount in use, once its readers need one
 * (front_rule.h). Private to fuse/.
 *
 * The supervisor watches the counters that all servers share; a child of the supervisor
 * does the work. No front comes while a process has its working directory in the mount:
 * that directory would be in a mount without a path then, and getcwd(3) would fail. Nor
 * while something is mounted in the mount, which would be detached as well. Nor while a
 * program stays on one file system by device numbers, path by path, as cp -x does, which
 * would leave out directories without a word: the overlay has another number.
 *
 * Threads: one, the supervisor's. NULL is allowed in all calls: nothing is watched.
 */
#ifndef GRANARY_FUSE_FRONT_WATCH_H
#define GRANARY_FUSE_FRONT_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fuse/front.h"

struct front_watch;

/* Both must outlive it; setup->in_use is set. NULL: out of memory. */
struct front_watch *front_watch_new(const struct mount *mount,
				    const struct front_setup *setup);
void front_watch_free(struct front_watch *watch);

/* A few times a second while there are requests. */
void front_watch_tick(struct front_watch *watch, int64_t now_ms);

/* A child was reaped, with this status of wait(2): was that the one that does the work? */
bool front_watch_reaped(struct front_watch *watch, pid_t pid, int status, int64_t now_ms);

/* Ends the work, and begins none any more: the mount is to be unmounted. */
void front_watch_end(struct front_watch *watch);

#endif
