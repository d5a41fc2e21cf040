/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * server.h: the process that answers the kernel. Private to fuse/.
 *
 * It is forked from the supervisor and needs nothing that is not there already: the
 * tree, the volumes, the connection, the slots. So it may die, and another one goes
 * on where it was.
 */
#ifndef GRANARY_FUSE_SERVER_H
#define GRANARY_FUSE_SERVER_H

#include "fuse/ops.h"
#include "fuse/slots.h"

/*
 * Answers what the server before has left, then what comes, until the connection
 * ends: 0, or -EAGAIN or -ENOMEM where it could not begin. One thread a slot, as far
 * as there are; the calling thread waits.
 */
int server_run(const struct served *served, struct fuse_session *fuse,
	       struct slots *slots);

#endif
