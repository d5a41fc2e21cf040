/*
 * passing.h: descriptors from one process to another, through a socket (SCM_RIGHTS,
 * unix(7)).
 *
 * Threads: any.
 */
#ifndef GRANARY_UTIL_PASSING_H
#define GRANARY_UTIL_PASSING_H

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
