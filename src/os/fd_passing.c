/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/fd_passing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fd_passing_prepare(struct msghdr *message, struct fd_passing_room *room)
{
	memset(room, 0, sizeof(*room));
	message->msg_control = room->bytes;
	message->msg_controllen = sizeof(room->bytes);
}

void fd_passing_attach(struct msghdr *message, struct fd_passing_room *room, int fd)
{
	struct cmsghdr *item;

	fd_passing_prepare(message, room);
	item = CMSG_FIRSTHDR(message); /* the room has space for one */
	if (!item)
		abort();
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(item), &fd, sizeof(fd));
}

int fd_passing_extract(struct msghdr *message)
{
	const struct cmsghdr *item = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (item && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
	    item->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(item), sizeof(fd));
	return fd;
}

int fd_passing_pair(int sockets[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0 ? -errno : 0;
}

int fd_passing_send(int socket, int fd)
{
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct fd_passing_room room;
	ssize_t n;

	fd_passing_attach(&message, &room, fd);
	do {
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int fd_passing_receive(int socket)
{
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct fd_passing_room room;
	ssize_t n;
	int fd;

	fd_passing_prepare(&message, &room);
	do {
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	fd = n == 0 ? -1 : fd_passing_extract(&message);
	return fd < 0 ? -EPIPE : fd;
}
