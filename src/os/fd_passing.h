/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fd_passing.h: descriptors from one process to another, through a socket (SCM_RIGHTS,
 * unix(7)).
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_FD_PASSING_H
#define GRANARY_OS_FD_PASSING_H

#include <stdalign.h>
#include <sys/socket.h>

/* The control buffer of a message with one descriptor. */
struct fd_passing_room {
	alignas(struct cmsghdr) char bytes[CMSG_SPACE(sizeof(int))];
};

/* Attaches `fd` to a message that will be sent. `room` must outlive the message. */
void fd_passing_attach(struct msghdr *message, struct fd_passing_room *room, int fd);

/* Prepares a message that will be received for one descriptor. */
void fd_passing_prepare(struct msghdr *message, struct fd_passing_room *room);

/* The descriptor that came with the message, now the caller's, or -1. */
int fd_passing_extract(struct msghdr *message);

/* A pair of connected sockets, close-on-exec. 0 or -errno. */
int fd_passing_pair(int sockets[2]);

/* Sends `fd`, which stays open here. 0 or a negative errno. */
int fd_passing_send(int socket, int fd);

/*
 * Waits for a descriptor from fd_passing_send: now the caller's, close-on-exec; -EPIPE:
 * the other end was closed; or another negative errno.
 */
int fd_passing_receive(int socket);

#endif
