/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "safe_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/place.h"

enum { DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static void safe_output_name_of(const struct select_directory *directory,
				char out[NAME_MAX + 1])
{
	memcpy(out, directory->name, directory->length);
	out[directory->length] = '\0';
}

/* ---- Directories ---- */

static int safe_output_refuse(const char *destination, int err, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, -err, "%s: %s%s", destination, strerror(-err),
			 err == -ENOTDIR ? "; files are extracted into a directory" : "");
}

/* The name of a new directory, and the path of its parent, which the caller frees. */
static char *split_name(const char *destination, char name[NAME_MAX + 1])
{
	size_t n = strlen(destination), begin;

	while (n > 1 && destination[n - 1] == '/')
		n--;
	for (begin = n; begin > 0 && destination[begin - 1] != '/';)
		begin--;
	if (n - begin > NAME_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	memcpy(name, destination + begin, n - begin);
	name[n - begin] = '\0';
	return begin ? strndup(destination, begin) : strdup(".");
}

/* O_NOFOLLOW: a link that takes the directory's place at this moment is not followed. */
static int make_in(int parent, const char *name)
{
	int fd;

	if (mkdirat(parent, name, 0777) < 0)
		return -errno;
	fd = openat(parent, name, DIRECTORY_FLAGS);
	return fd < 0 ? -errno : fd;
}

static int make_root(const char *destination, struct error *e)
{
	char name[NAME_MAX + 1];
	CLEANUP(cleanup_free) char *directory = split_name(destination, name);
	CLEANUP(cleanup_close) int parent = directory ? place_open_directory(directory,
									     e) : -errno;
	int fd = parent < 0 ? parent : make_in(parent, name);

	if (fd >= 0 || parent == -EPERM)
		return fd;
	return error_set(e, ERROR_SYSTEM, -fd, "%s: cannot be made: %s%s", destination,
			 strerror(-fd), fd == -ENOENT ?
			 "; make the directory that it is to be in" : "");
}

/* The user named this path: it may be a link, but for root not one of another user's. */
static int open_root(struct safe_output *l, const char *destination, struct error *e)
{
	CLEANUP(cleanup_close) int there = place_open_directory(destination, e);

	if (there == -ENOENT) {
		l->root = make_root(destination, e);
		l->made = l->root >= 0;
		return l->root < 0 ? l->root : 0;
	}
	if (there == -EPERM)
		return there;
	l->root = there < 0 ? there : openat(there, ".", DIRECTORY_FLAGS);
	if (l->root < 0)
		return safe_output_refuse(destination, there < 0 ? there : -errno, e);
	return 0;
}

int safe_output_open(struct safe_output *l, const char *destination,
		     const struct selection *selection, enum existing_policy existing,
		     struct error *e)
{
	int err;

	*l = (struct safe_output){ .root = -1, .selection = selection,
				   .existing = existing };
	if (vec_reserve(&l->made_directories, selection->directories.count) < 0)
		return error_no_memory(e, NULL);
	memset(l->made_directories.items, 0, selection->directories.count);
	l->made_directories.count = selection->directories.count;
	err = open_root(l, destination, e);
	if (err)
		return err;
	l->made_directories.items[0] = l->made;
	return 0;
}

void safe_output_close(struct safe_output *l)
{
	if (l->root >= 0)
		close(l->root);
	vec_free(&l->made_directories);
}

void safe_output_close_cursor(struct safe_output_cursor *c)
{
	if (c->fd >= 0 && c->fd != c->output->root)
		close(c->fd);
	c->fd = -1;
}

/* The number of directories from the destination to this one, which is counted. */
static uint32_t chain_length(const struct selection *s, uint32_t directory)
{
	uint32_t n = 0;

	for (; directory; directory = s->directories.items[directory].parent)
		n++;
	return n;
}

/* Opens a child of the directory `fd`, and closes `fd` unless it is the destination. */
static int step_down(const struct safe_output *l, int fd, uint32_t directory)
{
	char name[NAME_MAX + 1];
	int next, err;

	safe_output_name_of(&l->selection->directories.items[directory], name);
	next = openat(fd, name, DIRECTORY_FLAGS);
	err = errno;
	if (fd != l->root)
		close(fd);
	return next < 0 ? -err : next;
}

/* Step by step from the destination: a path may be longer than PATH_MAX. */
static int walk_down(const struct safe_output *l, uint32_t directory)
{
	uint32_t length = chain_length(l->selection, directory), i = length;
	CLEANUP(cleanup_free) uint32_t *chain = malloc((length + 1) * sizeof(*chain));
	int fd = l->root;

	if (!chain)
		return -ENOMEM;
	for (; i-- > 0; directory = l->selection->directories.items[directory].parent)
		chain[i] = directory;
	for (i = 0; i < length && fd >= 0; i++)
		fd = step_down(l, fd, chain[i]);
	return fd;
}

int safe_output_directory(struct safe_output_cursor *c, uint32_t directory)
{
	bool below = c->fd >= 0 && directory &&
		     c->output->selection->directories.items[directory].parent == c->directory;

	if (c->fd >= 0 && c->directory == directory)
		return c->fd;
	if (!below)
		safe_output_close_cursor(c);
	c->fd = below ? step_down(c->output, c->fd, directory) : walk_down(c->output,
									   directory);
	c->directory = directory;
	return c->fd;
}

int safe_output_make_directory(struct safe_output *l, struct safe_output_cursor *c,
			    uint32_t directory)
{
	const struct select_directory *f = &l->selection->directories.items[directory];
	int parent = safe_output_directory(c, f->parent), fd, err;
	char name[NAME_MAX + 1];

	if (parent < 0)
		return parent;
	safe_output_name_of(f, name);
	if (mkdirat(parent, name, 0700) == 0) {
		l->made_directories.items[directory] = true;
		return 0;
	}
	if (errno != EEXIST)
		return -errno;
	fd = openat(parent, name, DIRECTORY_FLAGS | O_PATH);
	err = errno;
	if (fd < 0)
		return -err;
	close(fd);
	return 0;
}

/* ---- Files ---- */

static void make_temporary_name(char *out, size_t size)
{
	static _Atomic unsigned number;

	snprintf(out, size, ".granary-%ld-%u", (long)getpid(),
		 atomic_fetch_add(&number, 1U));
}

static bool safe_output_exists(int directory, const char *name)
{
	struct stat st;

	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Filesystems without O_TMPFILE. Older kernels take the flag for O_DIRECTORY. */
static bool lacks_nameless(int errnum)
{
	return errnum == EOPNOTSUPP || errnum == EISDIR || errnum == ENOENT ||
	       errnum == EINVAL;
}

static int open_named(struct safe_output_file *file)
{
	do {
		make_temporary_name(file->temporary, sizeof(file->temporary));
		file->fd = openat(file->directory, file->temporary,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	} while (file->fd < 0 && errno == EEXIST);
	return file->fd < 0 ? -errno : 0;
}

int safe_output_begin(const struct safe_output *l, int directory, const char *name,
		      struct safe_output_file *file)
{
	*file = (struct safe_output_file){ .fd = -1, .directory = directory };
	if (l->existing != EXISTING_REPLACE) {
		if (safe_output_exists(directory, name))
			return -EEXIST;
		file->fd = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
		if (file->fd >= 0)
			return 0;
		if (!lacks_nameless(errno))
			return -errno;
	}
	return open_named(file);
}

void safe_output_drop(struct safe_output_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (*file->temporary)
		unlinkat(file->directory, file->temporary, 0);
	*file->temporary = '\0';
}

/* Renames, and never replaces a file. */
static int rename_new(int directory, const char *from, const char *to)
{
	if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* a link replaces nothing either; the caller removes the other name */
	return linkat(directory, from, directory, to, 0) < 0 ? -errno : 0;
}

static int safe_output_rename(const struct safe_output *l, int directory,
			      const char *from, const char *to)
{
	if (l->existing != EXISTING_REPLACE)
		return rename_new(directory, from, to);
	return renameat(directory, from, directory, to) < 0 ? -errno : 0;
}

static int name_nameless(const struct safe_output_file *file, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, path, file->directory, name, AT_SYMLINK_FOLLOW) < 0 ?
		       -errno : 0;
}

int safe_output_publish(const struct safe_output *l, struct safe_output_file *file,
			const char *name)
{
	int err = 0;

	if (*file->temporary) {
		/* close may report a full disk: so before the file is named */
		if (close(file->fd) < 0)
			err = -errno;
		file->fd = -1;
		if (!err)
			err = safe_output_rename(l, file->directory, file->temporary,
						 name);
	} else {
		err = name_nameless(file, name);
	}
	safe_output_drop(file);
	return err;
}

int safe_output_symlink(const struct safe_output *l, int directory, const char *name,
			const char *target)
{
	char temporary[64];
	int err;

	if (symlinkat(target, directory, name) == 0)
		return 0;
	if (errno != EEXIST || l->existing != EXISTING_REPLACE)
		return -errno;
	make_temporary_name(temporary, sizeof(temporary));
	if (symlinkat(target, directory, temporary) < 0)
		return -errno;
	err = safe_output_rename(l, directory, temporary, name);
	unlinkat(directory, temporary, 0);
	return err;
}

/* False: the file is an older one. */
static bool is_as_extracted(const struct stat *is, const struct tree_stat *st)
{
	return S_ISREG(is->st_mode) && (uint64_t)is->st_size == st->size &&
	       is->st_mtim.tv_sec == (time_t)st->mtime;
}

int safe_output_link(const struct safe_output *l, int from, const char *first,
		     const struct tree_stat *st, int directory, const char *name)
{
	char temporary[64];
	struct stat is;
	int err;

	if (fstatat(from, first, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!is_as_extracted(&is, st))
		return -EPERM;
	if (linkat(from, first, directory, name, 0) == 0)
		return 0;
	if (errno != EEXIST || l->existing != EXISTING_REPLACE)
		return -errno;
	make_temporary_name(temporary, sizeof(temporary));
	if (linkat(from, first, directory, temporary, 0) < 0)
		return -errno;
	err = safe_output_rename(l, directory, temporary, name);
	unlinkat(directory, temporary, 0); /* two names of one file: rename did nothing */
	return err;
}
