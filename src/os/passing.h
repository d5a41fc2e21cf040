/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * passing.h: descriptors from one process to another, through a socket (SCM_RIGHTS,
 * unix(7)).
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_PASSING_H
#define GRANARY_OS_PASSING_H

#include <stdalign.h>
#include <sys/socket.h>

/* Where a message has room for one descriptor. */
struct passing_room {
	alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(int))];
};

/* The message that is about to be sent carries `fd`; `room` lives as long as it. */
void passing_attach(struct msghdr *message, struct passing_room *room, int fd);

/* Room for one in a message that is about to be received. */
void passing_expect(struct msghdr *message, struct passing_room *room);

/* The one that has come with it, which is the caller's, or -1. */
int passing_take(struct msghdr *message);

/* A pair of connected sockets, which programs that are run do not inherit. 0 or -errno. */
int passing_pair(int sockets[2]);

/* Sends `fd`, which stays open here. 0 or a negative errno. */
int passing_send(int socket, int fd);

/*
 * Waits for one that passing_send sends: the caller's own descriptor, close-on-exec; or
 * -EPIPE, where the other end was closed without it, or another negative errno.
 */
int passing_receive(int socket);

#endif
