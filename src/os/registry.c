/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The number is that of the name's layout. */
#define REGISTRY_NAME "granaryfs/1/"

enum { TRIES = 16 };

int registry_add(int record)
{
	CLEANUP(cleanup_close) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (fd < 0)
		return -errno;
	/* another user may have taken the name: the last number means nothing */
	for (int i = 0; i < TRIES; i++) {
		int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
				 REGISTRY_NAME "%d/%d/%d", (int)getpid(), record, i);
		socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) +
				 (socklen_t)n;

		if (bind(fd, (const struct sockaddr *)&address, size) == 0) {
			shutdown(fd, SHUT_RDWR); /* nobody can fill its queue */
			return steal_fd(&fd);
		}
		if (errno != EADDRINUSE)
			break;
	}
	return -errno;
}

/* Is it a memfd? Asks no filesystem: that of another file may hang. */
static bool is_memory(int fd, dev_t memory_device)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 &&
	       S_ISREG(st.stx_mode) &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == memory_device;
}

/* Opens what another process has open, if it is a memfd; or -1. */
static int open_of_process(pid_t process, int number, dev_t memory_device)
{
	CLEANUP(cleanup_close) int held = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)process, number);
	held = open(path, O_PATH | O_CLOEXEC);
	if (held < 0 || !is_memory(held, memory_device))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The device of all memfds. */
static int find_memory_device(dev_t *out)
{
	CLEANUP(cleanup_close) int fd = memfd_create("granary", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	*out = st.st_dev;
	return 0;
}

/* `... 2 1 @granaryfs/1/4711/9/0`, a line of /proc/net/unix. */
static bool parse_name(const char *line, int *process, int *number)
{
	const char *name = strstr(line, " @" REGISTRY_NAME);

	return name && sscanf(name, " @" REGISTRY_NAME "%9d/%9d/", process, number) == 2 &&
	       *process > 0 && *number >= 0;
}

int registry_each(int (*found)(void *context, pid_t daemon, int record), void *context)
{
	CLEANUP(cleanup_free) char *line = NULL;
	size_t room = 0;
	dev_t memory_device = 0;
	int err = find_memory_device(&memory_device), process, number;
	FILE *sockets = err ? NULL : fopen("/proc/net/unix", "re");

	if (!sockets)
		return err ? err : -errno;
	while (!err && getline(&line, &room, sockets) > 0) {
		int record;

		if (!parse_name(line, &process, &number))
			continue;
		record = open_of_process(process, number, memory_device);
		if (record < 0)
			continue;
		err = found(context, process, record);
		close(record);
	}
	fclose(sockets);
	return err;
}
