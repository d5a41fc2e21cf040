#include "util/mounts.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

int mounts_type(const char *path, char *type, unsigned size)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	struct mntent entry;
	char text[8192];
	int found = 0;

	if (!table)
		return -errno;
	while (getmntent_r(table, &entry, text, sizeof(text))) {
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

int mounts_detach(const char *path)
{
	if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
		return 0;
	if (errno != EPERM)
		return -errno;
	return run_fusermount(path);
}
