/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * server.h: the process that answers the kernel. Private to fuse/.
 *
 * The supervisor forks it with everything it needs: tree, volumes, connection, slots. So
 * a server may die, and its successor continues.
 */
#ifndef GRANARY_FUSE_SERVER_H
#define GRANARY_FUSE_SERVER_H

#include "fuse/ops.h"
#include "fuse/slots.h"

/*
 * Answers the requests that the previous server left, then new ones, until the connection
 * ends: 0, or -EAGAIN or -ENOMEM if it could not start. Starts a thread for each slot, as
 * far as the system allows; the calling thread waits.
 */
int server_run(const struct served *served, struct fuse_session *fuse,
	       struct slots *slots);

#endif
