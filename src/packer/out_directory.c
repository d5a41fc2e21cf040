/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/out_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/filename.h"
#include "os/place.h"

/* The list only grows while a signal handler may walk it. */
struct out_directory {
	const struct out_directory *next;
	int fd;
	size_t length; /* of the path's directory part, with the slash */
	char text[];
};

static _Atomic(const struct out_directory *) directories;

int out_directory_opened(const char *path)
{
	size_t length = (size_t)(filename_of(path) - path);

	for (const struct out_directory *f = atomic_load(&directories); f; f = f->next) {
		if (f->length == length && memcmp(f->text, path, length) == 0)
			return f->fd;
	}
	return -1;
}

int out_directory(const char *path, struct error *e)
{
	size_t length = (size_t)(filename_of(path) - path);
	struct out_directory *directory;
	int fd = out_directory_opened(path);

	if (fd >= 0)
		return fd;
	directory = malloc(sizeof(*directory) + length + 1);
	if (!directory)
		return error_no_memory(e, NULL);
	*directory = (struct out_directory){ .next = atomic_load(&directories), .length = length };
	memcpy(directory->text, path, length);
	directory->text[length] = '\0';
	directory->fd = place_open_directory(length ? directory->text : ".", e);
	if (directory->fd < 0) {
		fd = directory->fd;
		free(directory);
		return fd;
	}
	atomic_store(&directories, directory);
	return directory->fd;
}

int out_directory_stat(const char *path, struct stat *st)
{
	int directory = out_directory(path, NULL);

	if (directory < 0)
		return directory;
	return fstatat(directory, filename_of(path), st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

bool out_directory_has(const char *path)
{
	struct stat st;

	return out_directory_stat(path, &st) == 0;
}

int out_directory_unlink(const char *path)
{
	int directory = out_directory(path, NULL);

	if (directory < 0)
		return directory;
	return unlinkat(directory, filename_of(path), 0) < 0 ? -errno : 0;
}

int out_directory_open(const char *path, int flags)
{
	int directory = out_directory(path, NULL);
	int fd = directory < 0 ? -1 :
		 openat(directory, filename_of(path), flags | O_NOFOLLOW | O_CLOEXEC, 0666);

	return directory < 0 ? directory : fd < 0 ? -errno : fd;
}

void out_directory_close_all(void)
{
	const struct out_directory *next, *directory = atomic_exchange(&directories, NULL);

	for (; directory; directory = next) {
		next = directory->next;
		close(directory->fd);
		free((void *)(uintptr_t)directory);
	}
}
