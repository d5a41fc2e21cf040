/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/whole.h"

#include <errno.h>
#include <unistd.h>

/* At the descriptor's own place where `offset` is NULL. */
static int whole_write(int fd, const char *bytes, size_t size, const uint64_t *offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = offset ? pwrite(fd, bytes + done, size - done,
					    (off_t)(*offset + done)) :
				     write(fd, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

int write_whole(int fd, const void *bytes, size_t size)
{
	return whole_write(fd, bytes, size, NULL);
}

int write_whole_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	return whole_write(fd, bytes, size, &offset);
}

ssize_t read_whole_at(int fd, void *bytes, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)bytes + done, size - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}
