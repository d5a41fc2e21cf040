#include "util/passing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A message of one byte, and room for one descriptor. */
struct message {
	struct msghdr header;
	struct iovec data;
	char byte;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
};

static void prepare(struct message *m)
{
	memset(m, 0, sizeof(*m));
	m->data = (struct iovec){ .iov_base = &m->byte, .iov_len = 1 };
	m->header = (struct msghdr){ .msg_iov = &m->data, .msg_iovlen = 1,
				     .msg_control = m->control.bytes,
				     .msg_controllen = sizeof(m->control.bytes) };
}

int passing_pair(int sockets[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0 ? -errno : 0;
}

int passing_send(int socket, int fd)
{
	struct message m;
	struct cmsghdr *item;
	ssize_t n;

	prepare(&m);
	item = CMSG_FIRSTHDR(&m.header);
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(item), &fd, sizeof(fd));
	do {
		n = sendmsg(socket, &m.header, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int passing_receive(int socket)
{
	struct message m;
	const struct cmsghdr *item;
	ssize_t n;
	int fd;

	prepare(&m);
	do {
		n = recvmsg(socket, &m.header, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	item = CMSG_FIRSTHDR(&m.header);
	if (n == 0 || !item || item->cmsg_level != SOL_SOCKET ||
	    item->cmsg_type != SCM_RIGHTS || item->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(item), sizeof(fd));
	return fd;
}
