/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/readahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

/*
 * With this value the kernel requests 1 MiB at a time, its largest request. A larger
 * value gains nothing and costs: around a missing page of a mapped file the kernel reads
 * as much as the value.
 */
enum { READAHEAD_KIB = 512 };

/* 1: raised; 0: already as large; or a negative errno. */
static int raise_value(const char *path)
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDWR | O_CLOEXEC);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	int length;

	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (strtoul(text, NULL, 10) >= READAHEAD_KIB)
		return 0;
	length = snprintf(text, sizeof(text), "%d\n", READAHEAD_KIB);
	return pwrite(fd, text, (size_t)length, 0) == length ? 1 : -errno;
}

void readahead_raise(unsigned minor)
{
	char path[64];
	int result;

	snprintf(path, sizeof(path), "/sys/class/bdi/0:%u/read_ahead_kb", minor);
	result = raise_value(path);
	if (result < 0)
		log_debug("%s: the kernel reads no further ahead than before: %s", path,
			  strerror(-result));
}
