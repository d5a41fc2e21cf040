/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int inherited_list(struct inherited *inherited)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int err = 0;

	if (!directory)
		return 0;
	while (!err && (entry = readdir(directory))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > STDERR_FILENO && fd != dirfd(directory))
			err = vec_push(&inherited->descriptors, fd);
	}
	closedir(directory);
	return err;
}

void inherited_close(const struct inherited *inherited, int kept)
{
	for (size_t i = 0; i < inherited->descriptors.count; i++) {
		if (inherited->descriptors.items[i] != kept)
			close(inherited->descriptors.items[i]);
	}
}

void inherited_free(struct inherited *inherited)
{
	vec_free(&inherited->descriptors);
}

void inherited_guard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void inherited_replace_streams(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		dup2(fd, i);
	close(fd);
}
