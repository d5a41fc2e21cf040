/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One name of the mount, against the same name of the tree that is right. */
#include "hammer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

enum { LIST_BYTES = 64 * 1024, XATTR_BYTES = 64 * 1024 };

/* ---- What is said of a name ---- */

static void check_seen(struct hammer *h, size_t i, const struct stat *st)
{
	struct stat *seen = &h->seen[i];

	if (!seen->st_ino)
		*seen = *st;
	if (st->st_ino != seen->st_ino || st->st_mode != seen->st_mode ||
	    st->st_nlink != seen->st_nlink || st->st_size != seen->st_size ||
	    st->st_uid != seen->st_uid || st->st_gid != seen->st_gid ||
	    st->st_blocks != seen->st_blocks ||
	    st->st_mtim.tv_sec != seen->st_mtim.tv_sec ||
	    st->st_mtim.tv_nsec != seen->st_mtim.tv_nsec)
		wrong(h, h->tree->items[i].path, "attributes: not those that it had", 0);
}

static void check_stat(struct hammer *h, size_t i)
{
	const struct item *it = &h->tree->items[i];
	struct stat st;

	begin(h, "stat", it->path);
	if (fstatat(h->options->mount, it->path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		failed(h, errno);
		return;
	}
	done(h);
	count(h, COUNT_stats, 1);
	check_seen(h, i, &st);
	if ((st.st_mode & S_IFMT) != (it->st.st_mode & S_IFMT))
		wrong(h, it->path, "type", st.st_mode);
	if (!S_ISDIR(st.st_mode) && st.st_size != it->st.st_size)
		wrong(h, it->path, "size", (uint64_t)st.st_size);
	if (!h->options->attributes)
		return;
	/* set-id and sticky bits are never shown */
	if (!S_ISLNK(st.st_mode) && (st.st_mode & 0777) != (it->st.st_mode & 0777))
		wrong(h, it->path, "mode", st.st_mode);
	if (st.st_mtim.tv_sec != it->st.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != it->st.st_mtim.tv_nsec)
		wrong(h, it->path, "mtime", (uint64_t)st.st_mtim.tv_sec);
}

static void check_link(struct hammer *h, const struct item *it)
{
	char want[PATH_MAX], got[PATH_MAX];
	ssize_t wanted = readlinkat(h->options->reference, it->path, want, sizeof(want)), n;

	begin(h, "readlink", it->path);
	n = readlinkat(h->options->mount, it->path, got, sizeof(got));
	if (n < 0) {
		failed(h, errno);
		return;
	}
	done(h);
	count(h, COUNT_links, 1);
	if (n != wanted || memcmp(want, got, (size_t)n) != 0)
		wrong(h, it->path, "target", 0);
}

/* A name that is not there, and that the kernel does not remember as such. */
static void check_absent(struct hammer *h, const struct item *it)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/no-%llx", it->path,
		     (unsigned long long)below(h, UINT64_MAX)) >= (int)sizeof(path))
		return;
	begin(h, "a look-up of nothing", it->path);
	if (fstatat(h->options->mount, path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		done(h);
		wrong(h, it->path, "name in it that nobody made", 0);
	} else if (errno != ENOENT) {
		failed(h, errno);
	} else {
		done(h);
		count(h, COUNT_absent, 1);
	}
}

/* The mount's own attribute, or none, as the tree has it. */
static void check_xattr(struct hammer *h, int want_fd, int fd, const struct item *it,
			const char *name)
{
	static char want[XATTR_BYTES], got[XATTR_BYTES];
	ssize_t wanted = fgetxattr(want_fd, name, want, sizeof(want)), n;

	begin(h, "getxattr", it->path);
	n = fgetxattr(fd, name, got, sizeof(got));
	if (n < 0 && wanted < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) {
		done(h);
		count(h, COUNT_xattrs, 1);
		return;
	}
	if (n < 0) {
		failed(h, errno);
		return;
	}
	done(h);
	count(h, COUNT_xattrs, 1);
	if (n != wanted || memcmp(want, got, (size_t)n) != 0)
		wrong(h, it->path, "xattr", (uint64_t)n);
}

static int open_both(const struct hammer *h, const struct item *it, int *want_fd)
{
	*want_fd = openat(h->options->reference, it->path, O_RDONLY | O_CLOEXEC);
	return openat(h->options->mount, it->path, O_RDONLY | O_CLOEXEC);
}

static void check_xattrs(struct hammer *h, const struct item *it)
{
	static char names[XATTR_BYTES], list[XATTR_BYTES];
	int want_fd, fd;
	ssize_t n;

	begin(h, "open", it->path);
	fd = open_both(h, it, &want_fd);
	if (fd < 0) {
		failed(h, errno);
		close(want_fd);
		return;
	}
	begin(h, "listxattr", it->path);
	if (flistxattr(fd, list, sizeof(list)) < 0 && errno != EOPNOTSUPP)
		failed(h, errno);
	else
		done(h);
	n = h->options->attributes ? flistxattr(want_fd, names, sizeof(names)) : 0;
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1)
		if (strncmp(names + at, "user.", 5) == 0)
			check_xattr(h, want_fd, fd, it, names + at);
	check_xattr(h, want_fd, fd, it, "user.none");
	close(fd);
	close(want_fd);
}

/* Requests that the kernel never answers by itself. */
static void check_others(struct hammer *h, const struct item *it)
{
	struct statfs fs;
	struct termios terminal;
	int fd;

	begin(h, "statfs", it->path);
	if (fstatfs(h->options->mount, &fs) < 0)
		failed(h, errno);
	else
		done(h);
	begin(h, "open", it->path);
	fd = openat(h->options->mount, it->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		failed(h, errno);
		return;
	}
	begin(h, "ioctl", it->path);
	if (ioctl(fd, TCGETS, &terminal) < 0 && errno != ENOTTY)
		failed(h, errno);
	else
		done(h);
	begin(h, "lseek", it->path);
	if (it->st.st_size && lseek(fd, 0, SEEK_HOLE) < 0)
		failed(h, errno);
	else
		done(h);
	count(h, COUNT_others, 3);
	close(fd);
}

/* ---- Directories ---- */

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

struct listing {
	struct name *names;
	size_t count, room;
};

static void add_name(struct listing *l, const struct linux_dirent64 *d)
{
	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return;
	if (l->count == l->room) {
		l->room = l->room ? l->room * 2 : 64;
		l->names = realloc(l->names, l->room * sizeof(*l->names));
		if (!l->names)
			abort();
	}
	l->names[l->count++] =
		(struct name){ .name = strdup(d->d_name), .type = d->d_type };
}

static void free_listing(struct listing *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->names[i].name);
	free(l->names);
}

static bool same_names(const struct item *it, const struct listing *l)
{
	for (size_t i = 0; i < it->count; i++)
		if (strcmp(it->names[i].name, l->names[i].name) != 0 ||
		    it->names[i].type != l->names[i].type)
			return false;
	return true;
}

/* A listing in pieces of any size: it may go on in another server. 1, or 0. */
static int list(struct hammer *h, int fd, const struct item *it, struct listing *l)
{
	_Alignas(struct linux_dirent64) char buffer[LIST_BYTES];
	long n;

	do {
		size_t size = 300 + below(h, below(h, 2) ? 2000 : LIST_BYTES - 300);

		begin(h, "getdents", it->path);
		n = syscall(SYS_getdents64, fd, buffer, size);
		if (n < 0)
			return failed(h, errno), 0;
		done(h);
		for (long at = 0; at < n;) {
			const void *entry = buffer + at;
			const struct linux_dirent64 *d = entry;

			add_name(l, d);
			at += d->d_reclen;
		}
	} while (n);
	return 1;
}

static void check_listing(struct hammer *h, const struct item *it)
{
	struct listing l = { NULL, 0, 0 };
	int fd;

	begin(h, "open", it->path);
	fd = openat(h->options->mount, it->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		failed(h, errno);
		return;
	}
	done(h);
	if (list(h, fd, it, &l)) {
		if (l.count)
			qsort(l.names, l.count, sizeof(*l.names), name_order);
		count(h, COUNT_listings, 1);
		if (l.count != it->count || !same_names(it, &l))
			wrong(h, it->path, "listing", l.count);
	}
	free_listing(&l);
	forget_pages(fd);
	close(fd);
}

/* ---- All of it ---- */

void check_item(struct hammer *h, size_t i)
{
	const struct item *it = &h->tree->items[i];

	if (it->excluded)
		return;
	check_stat(h, i);
	if (S_ISLNK(it->st.st_mode)) {
		check_link(h, it);
		return;
	}
	if (S_ISDIR(it->st.st_mode)) {
		check_listing(h, it);
		check_absent(h, it);
	} else {
		check_contents(h, it);
	}
	if (below(h, 8) == 0)
		check_xattrs(h, it);
	if (below(h, 8) == 0 && S_ISREG(it->st.st_mode))
		check_others(h, it);
}
