/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

int held_open(int held, const char *path, int flags)
{
	char link[32];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	fd = open(link, flags | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int held_open_file(const char *path)
{
	CLEANUP(cleanup_close) int held = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (held < 0 || fstat(held, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? held_open(held, path, O_RDONLY | O_NONBLOCK) : -EINVAL;
}
