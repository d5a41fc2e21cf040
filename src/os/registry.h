/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.h: the mounts of a node, as their daemons announce them.
 *
 * A daemon binds a socket in the abstract namespace, whose name holds its process and the
 * number of a descriptor, and on which nobody ever speaks. /proc/net/unix lists these names
 * to everybody. /proc/PID/fd/N is open to root and the daemon's own user only, also where
 * the daemon is in a user or mount namespace of its own. So no directory is needed that all
 * users may write to, and a daemon that is killed leaves nothing.
 *
 * Not found: daemons in another network or process namespace, as in a container.
 *
 * Threads: one.
 */
#ifndef GRANARY_OS_REGISTRY_H
#define GRANARY_OS_REGISTRY_H

#include <sys/types.h>

/*
 * Announces the memfd `record` of this process: a socket that is to stay open as long, or
 * a negative errno.
 */
int registry_add(int record);

/*
 * Calls `found` with each announced memfd that this process may read, which is closed
 * afterwards: 0, or a negative errno: there is no list. A result < 0 of `found` ends it. A
 * name may be a lie, so the descriptor is a memfd, of the process, and of unknown contents.
 */
int registry_each(int (*found)(void *context, pid_t daemon, int record), void *context);

#endif
