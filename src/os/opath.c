/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/opath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h> /* since Linux 5.6 */
#endif

#include "base/cleanup.h"

enum { RACES_MOST = 16 }; /* of openat2 with a rename */

static bool opath_is_same_file(int a, int b)
{
	struct stat st, other;

	return fstat(a, &st) == 0 && fstat(b, &other) == 0 && st.st_dev == other.st_dev &&
	       st.st_ino == other.st_ino && st.st_rdev == other.st_rdev;
}

static bool opath_is_link(int held)
{
	struct stat st;

	if (fstat(held, &st) < 0 || !S_ISLNK(st.st_mode))
		return false;
	errno = ELOOP;
	return true;
}

static int open_path(int held, const char *path, int flags)
{
	CLEANUP(cleanup_close) int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return opath_is_same_file(held, fd) ? steal_fd(&fd) : -ESTALE;
}

/* ENOENT is what the file's filesystem says, too, where a user decides what that is. */
int opath_reopen(int held, const char *path, int flags)
{
	char link[32], first;
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	fd = open(link, flags | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	return readlink(link, &first, 1) < 0 ? open_path(held, path, flags) : -ENOENT;
}

/* open(2) with O_DIRECTORY says ENOTDIR of a link, too. */
static int refuse_no_directory(int at, const char *name)
{
	struct stat st;

	errno = fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) ?
			ELOOP : ENOTDIR;
	return -1;
}

/* Name by name, without links. */
static int hold_without_links(int root, const char *path)
{
	CLEANUP(cleanup_close) int held = -1;
	char name[NAME_MAX + 1];

	for (;;) {
		size_t n = strcspn(path, "/");
		int at = held < 0 ? root : held, fd;

		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, n);
		name[n] = '\0';
		fd = openat(at, name,
			    O_PATH | O_NOFOLLOW | O_CLOEXEC | (path[n] ? O_DIRECTORY : 0));
		if (fd < 0)
			return errno == ENOTDIR ? refuse_no_directory(at, name) : -1;
		cleanup_close(&held);
		held = fd;
		path += n + strspn(path + n, "/");
		if (!*path)
			break;
	}
	return opath_is_link(held) ? -1 : steal_fd(&held);
}

int opath_hold_below(int root, const char *path)
{
#ifdef RESOLVE_BENEATH
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };

	/* a rename anywhere may be what makes ".." unsafe: EAGAIN */
	for (unsigned i = 0; i < RACES_MOST; i++) {
		int fd = (int)syscall(__NR_openat2, root, path, &how, sizeof(how));

		if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN))
			return fd;
		if (errno != EAGAIN)
			break;
	}
#endif
	return hold_without_links(root, path);
}

int opath_open_file(const char *path)
{
	CLEANUP(cleanup_close) int held = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (held < 0 || fstat(held, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? opath_reopen(held, path, O_RDONLY | O_NONBLOCK) :
		-EINVAL;
}
