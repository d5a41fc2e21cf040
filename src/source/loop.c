/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/loop.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

/* One line of sysfs, without its newline. */
static bool loop_read_line(const char *path, char out[PATH_MAX])
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, PATH_MAX - 1);

	if (n <= 0)
		return false;
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return true;
}

/* A partition's directory in sysfs lies in that of its device. */
static bool file_name(const struct stat *device, char out[PATH_MAX])
{
	static const char *const places[] = { "loop", "../loop" };
	char path[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/backing_file",
			 major(device->st_rdev), minor(device->st_rdev), places[i]);
		if (loop_read_line(path, out))
			return true;
	}
	return false;
}

/*
 * Another file may have the name by now, or in this mount namespace: the kernel decides.
 */
bool loop_file(int fd, const struct stat *device, struct stat *out)
{
	char name[PATH_MAX];
	struct loop_info64 loop;

	return file_name(device, name) && stat(name, out) == 0 &&
	       ioctl(fd, LOOP_GET_STATUS64, &loop) == 0 && loop.lo_inode == out->st_ino &&
	       loop.lo_device == out->st_dev;
}
