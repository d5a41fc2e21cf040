/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/local_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/held.h"
#include "source/folder.h"
#include "source/loop.h"

static int refuse_limit(const char *path, struct error *e)
{
	struct rlimit limit = { 0, 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return error_set(e, ERROR_SYSTEM, EMFILE,
			 "cannot open '%s': this process may hold only %llu files "
			 "open; raise the limit with `ulimit -n`",
			 path, (unsigned long long)limit.rlim_cur);
}

static int refuse_errno(const char *path, int errnum, struct error *e)
{
	if (errnum == ENOENT)
		return error_set(e, ERROR_SYSTEM, errnum,
				 "'%s' does not exist; check the path", path);
	if (errnum == EACCES || errnum == EPERM)
		return error_set(e, ERROR_SYSTEM, errnum,
				 "user id %u may not read '%s'; it needs the right "
				 "to read the file and to search its folders%s",
				 (unsigned)geteuid(), path, geteuid() ? "" :
				 "; on NFS, or on a user's own FUSE filesystem, only that user "
				 "has it: granaryfs -o user=NAME");
	if (errnum == EMFILE)
		return refuse_limit(path, e);
	errno = errnum;
	return error_set(e, ERROR_SYSTEM, errnum, "cannot open '%s': %m", path);
}

static const char *kind_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return "a pipe";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
		return "a character device";
	default:
		return "of an unknown kind";
	}
}

static int check_kind(const char *path, const struct stat *st, struct error *e)
{
	if (S_ISREG(st->st_mode) || S_ISBLK(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return folder_refuse(path, e);
	return error_set(e, ERROR_DATASET, EINVAL,
			 "'%s' is %s, not a regular file or a block device; save "
			 "its contents to a file first",
			 path, kind_name(st->st_mode));
}

/* A file under a lease refuses O_NONBLOCK. */
static int open_retry(int held, const char *path)
{
	int fd;

	do {
		fd = held_open(held, path, O_RDONLY | O_NONBLOCK);
	} while (fd == -EINTR);
	while (fd == -EWOULDBLOCK || fd == -EINTR)
		fd = held_open(held, path, O_RDONLY);
	return fd;
}

static void fill_mtime(const struct stat *st, struct source_owner *owner)
{
	owner->mtime = st->st_mtim.tv_sec;
	owner->mtime_ns = (uint32_t)st->st_mtim.tv_nsec;
}

/*
 * A device is the same by any of its names, which are made anew at every start of the
 * machine: their numbers and times mean nothing. The file behind a loop device has a time.
 */
static int fill_device(int fd, const struct stat *st, struct source_info *info)
{
	struct stat file = { .st_mtim = { .tv_sec = 0 } };

	info->device = true;
	info->id = (struct source_id){ .device = st->st_rdev };
	if (!loop_file(fd, st, &file))
		file.st_mtim = (struct timespec){ .tv_sec = 0 };
	fill_mtime(&file, &info->owner);
	return ioctl(fd, BLKGETSIZE64, &info->size) < 0 ? -errno : 0;
}

enum { EXFAT_MAGIC = 0x2011bab0 }; /* older headers lack it */

/*
 * These give a file another inode number when it is forgotten, or at the next mount. FUSE:
 * what is behind it decides, and most of it (sshfs, rclone) has no numbers of its own.
 */
static bool numbers_anew(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC ||
	       fs.f_type == MSDOS_SUPER_MAGIC || fs.f_type == EXFAT_MAGIC;
}

/* 0 or a negative errno. */
static int fill_info(int fd, const struct stat *st, struct source_info *info)
{
	info->device = false;
	info->id.device = st->st_dev;
	info->id.inode = st->st_ino;
	info->number = S_ISREG(st->st_mode) && !numbers_anew(fd) ? st->st_ino : 0;
	info->size = st->st_size < 0 ? 0 : (uint64_t)st->st_size;
	info->owner.uid = st->st_uid;
	info->owner.gid = st->st_gid;
	info->owner.mode = st->st_mode & 0777;
	fill_mtime(st, &info->owner);
	return S_ISBLK(st->st_mode) ? fill_device(fd, st, info) : 0;
}

/* What was found by its name may be something else by now. */
static int examine(const char *path, int fd, struct source_info *info, struct error *e)
{
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0)
		return refuse_errno(path, errno, e);
	err = check_kind(path, &st, e);
	if (err)
		return err;
	err = fill_info(fd, &st, info);
	return err ? refuse_errno(path, -err, e) : 0;
}

int file_open(const char *path, int *fd, struct source_info *info, struct error *e)
{
	CLEANUP(cleanup_close) int held = open(path, O_PATH | O_CLOEXEC), opened = -1;
	struct stat st;
	int err;

	if (held < 0 || fstat(held, &st) < 0)
		return refuse_errno(path, errno, e);
	err = check_kind(path, &st, e);
	if (err)
		return err;
	opened = open_retry(held, path);
	if (opened < 0)
		return refuse_errno(path, -opened, e);
	err = examine(path, opened, info, e);
	if (err)
		return err;
	*fd = steal_fd(&opened);
	return 0;
}

int file_adopt(const char *path, int fd, struct source_info *info, struct error *e)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY)
		return error_set(e, ERROR_SYSTEM, EBADF,
				 "'%s' was handed over as descriptor %d, which is not open for "
				 "reading; open it with O_RDONLY", path, fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return refuse_errno(path, errno, e);
	return examine(path, fd, info, e);
}

int file_describe(int fd, struct source_info *info)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return fill_info(fd, &st, info);
}

char *file_place(int fd)
{
	char link[32], place[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, place, sizeof(place));
	return n > 0 && (size_t)n < sizeof(place) ? strndup(place, (size_t)n) : NULL;
}

/* The descriptor's own position is nobody's: all reading is by pread. */
uint64_t file_next_data(int fd, uint64_t offset, uint64_t size)
{
	off_t found = offset < INT64_MAX ? lseek(fd, (off_t)offset, SEEK_DATA) : -1;

	if (found >= 0)
		return (uint64_t)found;
	return errno == ENXIO && offset < size ? size : offset;
}
