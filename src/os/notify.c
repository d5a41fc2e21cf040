/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notify.c: the protocol of sd_notify(3), and one byte into a FIFO. */
#include "os/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/bounded.h"

enum { SEND_MILLISECONDS = 1000, PAUSE_MILLISECONDS = 5, DATAGRAM_BYTES = 3072 };

/* The address for datagrams; size 0: none. */
static struct sockaddr_un manager;
static socklen_t manager_size;

/* systemd. */

/* A path, or after `@` a name in Linux's abstract namespace. */
static void parse_address(void)
{
	const char *address = getenv("NOTIFY_SOCKET");
	size_t n = address ? strlen(address) : 0;

	if (n > 1 && n < sizeof(manager.sun_path) &&
	    (address[0] == '/' || address[0] == '@')) {
		manager.sun_family = AF_UNIX;
		memcpy(manager.sun_path, address, n + 1);
		if (address[0] == '@')
			manager.sun_path[0] = '\0';
		/* an abstract name ends where the address does */
		manager_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n +
					   (address[0] == '/'));
	}
	unsetenv("NOTIFY_SOCKET");
}

static void send_datagram(const char *text)
{
	struct pollfd room = { .events = POLLOUT };
	CLEANUP(cleanup_close) int fd = -1;

	if (!manager_size)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* poll waits for room on connected sockets only */
	if (fd < 0 || connect(fd, (const struct sockaddr *)&manager, manager_size) < 0)
		return;
	room.fd = fd;
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0 && errno == EAGAIN &&
	    poll(&room, 1, SEND_MILLISECONDS) == 1)
		send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* A datagram consists of lines NAME=VALUE: line feeds in the sentence are replaced. */
static void send_status(const char *before, const char *status)
{
	char text[DATAGRAM_BYTES];
	size_t n = strlen(before);

	snprintf(text, sizeof(text), "%sSTATUS=%s", before, status);
	for (; text[n]; n++) {
		if ((unsigned char)text[n] < ' ')
			text[n] = ' ';
	}
	send_datagram(text);
}

/* The FIFO. */

static int notify_refuse(const char *path, int errnum, const char *why, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, errnum, "-o notify_pipe=%s: %s", path, why);
}

/* O_PATH first: opening a device for writing may have effects. */
int notify_open_fifo(const char *path, struct error *e)
{
	CLEANUP(cleanup_close) int named = open(path, O_PATH | O_CLOEXEC);
	char pinned[64];
	struct stat st;
	int fd;

	if (named < 0 || fstat(named, &st) < 0)
		return notify_refuse(path, errno, errno == ENOENT ?
				     "there is no such FIFO; make it with mkfifo" :
				     strerror(errno), e);
	if (!S_ISFIFO(st.st_mode))
		return notify_refuse(path, EINVAL, "is not a FIFO; make one with mkfifo",
				     e);
	snprintf(pinned, sizeof(pinned), "/proc/self/fd/%d", named);
	/* with a reader of its own, neither open nor write waits */
	fd = open(pinned, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? notify_refuse(path, errno, strerror(errno), e) : fd;
}

void notify_adopt(struct notify *notify, int fifo)
{
	parse_address();
	notify->pipe = fifo;
}

int notify_open(struct notify *notify, const char *path, struct error *e)
{
	int fd = path ? notify_open_fifo(path, e) : -1;

	notify_adopt(notify, fd < 0 ? -1 : fd);
	return path && fd < 0 ? fd : 0;
}

static void put_byte(const struct notify *notify, const char *byte)
{
	if (notify->pipe >= 0 && write(notify->pipe, byte, 1) < 0)
		return; /* the pipe is full, so its reader has been woken already */
}

void notify_ready(struct notify *notify, const char *status)
{
	char before[64];

	snprintf(before, sizeof(before), "READY=1\nMAINPID=%ld\n", (long)getpid());
	send_status(before, status);
	put_byte(notify, "s");
}

/* The errno(3) for an exit status, which systemd shows. */
static int errno_of(enum error_status status)
{
	switch (status) {
	case ERROR_USAGE:
		return EINVAL;
	case ERROR_DATASET:
		return EBADMSG;
	case ERROR_MOUNT:
		return ENODEV;
	case ERROR_SYSTEM:
	case ERROR_LATE:
	case ERROR_IDLE:
	case ERROR_DAMAGED:
	case ERROR_PARTIAL:
	default:
		return EIO;
	}
}

void notify_failed(struct notify *notify, const struct error *e)
{
	char before[64];

	snprintf(before, sizeof(before), "ERRNO=%d\n", errno_of(e->status));
	/* the indexer has printed the error itself */
	send_status(before, *e->text ? e->text : "no index; see standard error");
	put_byte(notify, "f");
}

void notify_stopping(void)
{
	send_datagram("STOPPING=1\nSTATUS=unmounting");
}

bool notify_close(struct notify *notify, unsigned milliseconds)
{
	long long end = bounded_now() + milliseconds;
	int left = 0;

	if (notify->pipe < 0)
		return true;
	while (ioctl(notify->pipe, FIONREAD, &left) == 0 && left > 0) {
		if (bounded_now() >= end)
			return false;
		bounded_pause(PAUSE_MILLISECONDS);
	}
	close(notify->pipe);
	notify->pipe = -1;
	return true;
}

void notify_clear(struct notify *notify)
{
	if (notify->pipe >= 0)
		close(notify->pipe);
	notify->pipe = -1;
}
