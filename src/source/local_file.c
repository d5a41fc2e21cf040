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
#include "os/opath.h"
#include "source/directory.h"
#include "source/loop.h"
#include "source/retry.h"

enum { SOON_BYTES = 512 << 10 }; /* a device takes no more of one request */

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
				 "to read the file and to search its directories%s",
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
		return directory_refuse(path, e);
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
		fd = opath_reopen(held, path, O_RDONLY | O_NONBLOCK);
	} while (fd == -EINTR);
	while (fd == -EWOULDBLOCK || fd == -EINTR)
		fd = opath_reopen(held, path, O_RDONLY);
	return fd;
}

static void fill_mtime(const struct stat *st, struct source_owner *owner)
{
	owner->mtime = st->st_mtim.tv_sec;
	owner->mtime_ns = (uint32_t)st->st_mtim.tv_nsec;
}

/*
 * Device nodes are made again at every boot: their inode numbers and times mean nothing,
 * and the device number identifies the device. The file behind a loop device has a time.
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
 * These filesystems give a file another inode number after the kernel forgot the inode,
 * or at the next mount. On FUSE the daemon decides, and most (sshfs, rclone) have no
 * lasting numbers.
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
	info->changed = info->number ? st->st_ctim : (struct timespec){ 0 };
	return S_ISBLK(st->st_mode) ? fill_device(fd, st, info) : 0;
}

/* Another file may have the name by now. */
static int local_file_examine(const char *path, int fd, struct source_info *info,
			      struct error *e)
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

/* An O_PATH descriptor of the file, or -1 and errno. */
static int hold_file(const char *path, size_t directory)
{
	CLEANUP(cleanup_close) int root = -1;
	char name[PATH_MAX];

	if (!directory)
		return open(path, O_PATH | O_CLOEXEC);
	if (directory >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, path, directory);
	name[directory] = '\0';
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -1 : opath_hold_below(root, path + directory + 1);
}

int file_open(const char *path, size_t directory, int *fd, struct source_info *info,
	      struct error *e)
{
	CLEANUP(cleanup_close) int held = hold_file(path, directory), opened = -1;
	struct stat st;
	int err;

	if (held < 0 && directory && (errno == EXDEV || errno == ELOOP))
		return error_set(e, ERROR_DATASET, EXDEV,
				 "'%s' leads out of the directory '%.*s'; put a copy of the file "
				 "there (MDS shards can be named themselves)", path,
				 (int)directory, path);
	if (held < 0 || fstat(held, &st) < 0)
		return refuse_errno(path, errno, e);
	err = check_kind(path, &st, e);
	if (err)
		return err;
	opened = open_retry(held, path);
	if (opened < 0)
		return refuse_errno(path, -opened, e);
	err = local_file_examine(path, opened, info, e);
	if (err)
		return err;
	*fd = steal_fd(&opened);
	return 0;
}

static int check_adopted(const char *path, int fd, struct error *e)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY)
		return error_set(e, ERROR_SYSTEM, EBADF,
				 "'%s' was handed over as descriptor %d, which is not open for "
				 "reading; open it with O_RDONLY", path, fd);
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? refuse_errno(path, errno, e) : 0;
}

int file_describe(int fd, struct source_info *info)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return fill_info(fd, &st, info);
}

static bool equal_times(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool source_is_unchanged(const struct source *source)
{
	const struct source_info *was = source_info(source);
	struct source_info now;

	if (was->device || source->ops != &local_file_ops ||
	    file_describe(local_file_of(source)->fd, &now) < 0)
		return true;
	return now.size == was->size && now.owner.mtime == was->owner.mtime &&
	       now.owner.mtime_ns == was->owner.mtime_ns &&
	       equal_times(now.changed, was->changed);
}

/* Of a file without a name, as of -o spool=, by the path of its packed file. */
static char *local_file_absolute(const char *path)
{
	char directory[PATH_MAX], *place;

	if (*path == '/')
		return strdup(path);
	if (!getcwd(directory, sizeof(directory)) ||
	    asprintf(&place, "%s/%s", directory, path) < 0)
		return NULL;
	return place;
}

/*
 * The absolute path of an open file; NULL where it is not known. By the descriptor: a
 * daemon leaves the directory that a path was given in.
 */
static char *local_file_find_place(int fd, const char *path)
{
	char link[32], place[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == 0 && st.st_nlink == 0)
		return local_file_absolute(path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, place, sizeof(place));
	return n > 0 && (size_t)n < sizeof(place) ? strndup(place, (size_t)n) : NULL;
}

/* Opening. */

/* The descriptor becomes the source's, unless there is no memory. */
static int make_source(const char *path, int fd, const struct source_info *info,
		       struct source **out, struct error *e)
{
	struct local_file *file = source_new(&local_file_ops, sizeof(*file), path, e);

	if (!file)
		return -ENOMEM;
	file->fd = fd;
	file->source.info = *info;
	file->source.place = local_file_find_place(fd, path);
	*out = &file->source;
	return 0;
}

static int local_file_open_source(const char *path, size_t directory, struct source **out,
				  struct error *e)
{
	CLEANUP(cleanup_close) int fd = -1;
	struct source_info info;
	int err = file_open(path, directory, &fd, &info, e);

	if (!err)
		err = make_source(path, fd, &info, out, e);
	if (!err)
		steal_fd(&fd);
	return err;
}

int source_adopt(const char *path, int fd, struct source **out, struct error *e)
{
	struct source_info info;
	int err = check_adopted(path, fd, e);

	if (!err)
		err = local_file_examine(path, fd, &info, e);
	return err ? err : make_source(path, fd, &info, out, e);
}

int source_receive(const char *path, int fd, const struct source_info *info,
		   struct source **out, struct error *e)
{
	int err = make_source(path, fd, info, out, e);

	if (!err)
		local_file_of(*out)->stays_open = true;
	return err;
}

/* Its operations. */

static void hint_file(const struct source *source, enum source_hint hint, uint64_t at,
		      uint64_t length)
{
	struct local_file *file = local_file_of(source);

	if (hint == HINT_SOON) {
		for (uint64_t end = at + length; at < end; at += SOON_BYTES)
			posix_fadvise(file->fd, (off_t)at,
				      (off_t)(end - at < SOON_BYTES ? end - at : SOON_BYTES),
				      POSIX_FADV_WILLNEED);
		return;
	}
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_RANDOM);
	atomic_store(&file->ours, hint == HINT_STREAM_OWN);
	atomic_store(&file->streaming, true);
}

/* lseek(2): no thread uses the descriptor's position, since all reads are by pread. */
static uint64_t next_data(const struct source *source, uint64_t at)
{
	int fd = local_file_of(source)->fd;
	off_t found = at < INT64_MAX ? lseek(fd, (off_t)at, SEEK_DATA) : -1;

	if (found >= 0)
		return (uint64_t)found;
	return errno == ENXIO && at < source->info.size ? source->info.size : at;
}

static int local_file_hand_over(const struct source *source)
{
	return local_file_of(source)->fd;
}

static void close_file(struct source *source)
{
	if (!local_file_of(source)->stays_open)
		close(local_file_of(source)->fd);
}

const struct source_ops local_file_ops = {
	.open = local_file_open_source, .pread = retry_pread, .hint = hint_file,
	.next_data = next_data, .hand_over = local_file_hand_over, .close = close_file,
};
