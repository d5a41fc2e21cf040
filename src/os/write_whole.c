/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/write_whole.h"

#include <errno.h>
#include <unistd.h>

int write_whole(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}
