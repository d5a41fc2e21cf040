/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/opath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool opath_is_same_file(int a, int b)
{
	struct stat st, other;

	return fstat(a, &st) == 0 && fstat(b, &other) == 0 && st.st_dev == other.st_dev &&
	       st.st_ino == other.st_ino && st.st_rdev == other.st_rdev;
}

static int open_path(int held, const char *path, int flags)
{
	CLEANUP(cleanup_close) int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return opath_is_same_file(held, fd) ? steal_fd(&fd) : -ESTALE;
}

/* ENOENT is what the file's filesystem says, too, where a user decides what that is. */
int opath_reopen(int held, const char *path, int flags)
{
	char link[32], first;
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	fd = open(link, flags | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	return readlink(link, &first, 1) < 0 ? open_path(held, path, flags) : -ENOENT;
}

int opath_open_file(const char *path)
{
	CLEANUP(cleanup_close) int held = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (held < 0 || fstat(held, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? opath_reopen(held, path, O_RDONLY | O_NONBLOCK) :
		-EINVAL;
}
