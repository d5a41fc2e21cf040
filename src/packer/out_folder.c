/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/out_folder.h"

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
struct out_folder {
	const struct out_folder *next;
	int fd;
	size_t length; /* of the path's folder part, with the slash */
	char text[];
};

static _Atomic(const struct out_folder *) folders;

int out_folder_opened(const char *path)
{
	size_t length = (size_t)(filename_of(path) - path);

	for (const struct out_folder *f = atomic_load(&folders); f; f = f->next) {
		if (f->length == length && memcmp(f->text, path, length) == 0)
			return f->fd;
	}
	return -1;
}

int out_folder(const char *path, struct error *e)
{
	size_t length = (size_t)(filename_of(path) - path);
	struct out_folder *folder;
	int fd = out_folder_opened(path);

	if (fd >= 0)
		return fd;
	folder = malloc(sizeof(*folder) + length + 1);
	if (!folder)
		return error_no_memory(e, NULL);
	*folder = (struct out_folder){ .next = atomic_load(&folders), .length = length };
	memcpy(folder->text, path, length);
	folder->text[length] = '\0';
	folder->fd = place_open_folder(length ? folder->text : ".", e);
	if (folder->fd < 0) {
		fd = folder->fd;
		free(folder);
		return fd;
	}
	atomic_store(&folders, folder);
	return folder->fd;
}

bool out_folder_has(const char *path)
{
	int folder = out_folder(path, NULL);
	struct stat st;

	return folder >= 0 &&
	       fstatat(folder, filename_of(path), &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int out_folder_unlink(const char *path)
{
	int folder = out_folder(path, NULL);

	if (folder < 0)
		return folder;
	return unlinkat(folder, filename_of(path), 0) < 0 ? -errno : 0;
}

int out_folder_open(const char *path, int flags)
{
	int folder = out_folder(path, NULL);
	int fd = folder < 0 ? -1 :
		 openat(folder, filename_of(path), flags | O_NOFOLLOW | O_CLOEXEC, 0666);

	return folder < 0 ? folder : fd < 0 ? -errno : fd;
}

void out_folder_close_all(void)
{
	const struct out_folder *next, *folder = atomic_exchange(&folders, NULL);

	for (; folder; folder = next) {
		next = folder->next;
		close(folder->fd);
		free((void *)(uintptr_t)folder);
	}
}
