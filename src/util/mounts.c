#include "util/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Paths of 4 KiB, each byte written as an octal escape, and options. */
enum { LINE_MAX_BYTES = 256 * 1024 };

int mounts_type(const char *path, char *type, unsigned size)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	CLEANUP(cleanup_free) char *text = malloc(LINE_MAX_BYTES);
	struct mntent entry;
	int found = 0;

	if (!table || !text) {
		if (table)
			endmntent(table);
		return -ENOMEM;
	}
	while (getmntent_r(table, &entry, text, LINE_MAX_BYTES)) {
		if (strcmp(entry.mnt_dir, path) != 0)
			continue;
		snprintf(type, size, "%s", entry.mnt_type);
		found = 1;
	}
	endmntent(table);
	return found;
}

static int run_fusermount(const char *path)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (child == 0) {
		execlp("fusermount3", "fusermount3", "-u", "-q", "-z", "--", path,
		       (char *)NULL);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

/* The mount that an open directory is on. */
static int id_of(int fd)
{
	char path[64];
	int id = MOUNT_ID_UNKNOWN;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	if (!info)
		return MOUNT_ID_UNKNOWN;
	while (fgets(path, sizeof(path), info)) {
		if (strncmp(path, "mnt_id:", 7) == 0)
			id = (int)strtol(path + 7, NULL, 10);
	}
	fclose(info);
	return id;
}

int mounts_id(const char *path)
{
	CLEANUP(cleanup_close) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? MOUNT_ID_UNKNOWN : id_of(fd);
}

int mounts_detach(const char *path, int id)
{
	CLEANUP(cleanup_close) int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char pinned[64];

	if (fd < 0)
		return -errno;
	if (id != MOUNT_ID_UNKNOWN && id_of(fd) != id)
		return -ESTALE;
	/* by descriptor: the folders above may belong to somebody else */
	snprintf(pinned, sizeof(pinned), "/proc/self/fd/%d", fd);
	if (umount2(pinned, MNT_DETACH) == 0)
		return 0;
	if (errno != EPERM)
		return -errno;
	return run_fusermount(path);
}
