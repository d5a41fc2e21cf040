/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stubborn.c: a FUSE filesystem of a user's own, which leaves root waiting.
 *
 *	stubborn UID GID DIRECTORY MOUNTPOINT close|ask
 *
 * Shows the files of DIRECTORY. Root's requests about a file that is open there are never
 * answered: FLUSH, which the kernel waits for when a descriptor is closed ("close"), or
 * GETATTR ("ask": others than the user may look then). Ends with its parent, or after five
 * minutes.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST 300 /* seconds */

static int directory;
static bool on_close;

static const char *relative(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static void leave_root_waiting(void)
{
	while (fuse_get_context()->uid == 0)
		pause();
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *info)
{
	if (!on_close && info)
		leave_root_waiting();
	return fstatat(directory, relative(path), st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int open_file(const char *path, struct fuse_file_info *info)
{
	int fd = openat(directory, relative(path), info->flags & O_ACCMODE);

	info->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int read_file(const char *path, char *buffer, size_t size, off_t at,
		     struct fuse_file_info *info)
{
	ssize_t n = pread((int)info->fh, buffer, size, at);

	(void)path;
	return n < 0 ? -errno : (int)n;
}

static int flush_file(const char *path, struct fuse_file_info *info)
{
	(void)path;
	(void)info;
	if (on_close)
		leave_root_waiting();
	return 0;
}

static int release_file(const char *path, struct fuse_file_info *info)
{
	(void)path;
	return close((int)info->fh);
}

static const struct fuse_operations operations = {
	.getattr = get_attributes, .open = open_file, .read = read_file,
	.flush = flush_file, .release = release_file,
};

/* As fusermount3 mounts for a user; /dev/fuse need not be everybody's then. */
static int mount_for(uid_t uid, gid_t gid, const char *mountpoint)
{
	int fd = open("/dev/fuse", O_RDWR);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u%s", fd,
		 (unsigned)uid, (unsigned)gid, on_close ? "" : ",allow_other");
	if (fd < 0 || mount("stubborn", mountpoint, "fuse.stubborn", MS_NOSUID | MS_NODEV,
			    options) < 0)
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	char place[32], name[] = "stubborn", stay[] = "-f";
	char *arguments[] = { name, stay, place, NULL };
	uid_t uid = argc > 1 ? (uid_t)atoi(argv[1]) : 0;
	gid_t gid = argc > 2 ? (gid_t)atoi(argv[2]) : 0;
	int fd;

	if (argc != 6) {
		fputs("usage: stubborn UID GID DIRECTORY MOUNTPOINT close|ask\n", stderr);
		return 1;
	}
	on_close = strcmp(argv[5], "close") == 0;
	directory = open(argv[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = mount_for(uid, gid, argv[4]);
	if (directory < 0 || fd < 0 || setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(uid, uid, uid) < 0) {
		perror("stubborn");
		return 1;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LONGEST);
	snprintf(place, sizeof(place), "/dev/fd/%d", fd);
	return fuse_main(3, arguments, &operations, NULL);
}
