#include "original.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/scan.h"
#include "util/cleanup.h"
#include "util/vec.h"

int original_stat(int root, const char *path, struct stat *st)
{
	CLEANUP(cleanup_close) int fd = -1;

	if (fstatat(root, path, st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (errno != ENAMETOOLONG)
		return -errno;
	fd = scan_open(root, path, O_PATH);
	if (fd < 0)
		return fd;
	return fstat(fd, st) < 0 ? -errno : 0;
}

int original_readlink(int root, const char *path, char target[PATH_MAX])
{
	CLEANUP(cleanup_close) int fd = scan_open(root, path, O_PATH);
	ssize_t n = fd < 0 ? fd : readlinkat(fd, "", target, PATH_MAX - 1);

	if (n < 0)
		return fd < 0 ? fd : -errno;
	target[n] = '\0';
	return 0;
}

int original_open(int root, const char *path)
{
	return scan_open(root, path, O_RDONLY | O_NONBLOCK);
}

/* ---- The walk ---- */

struct name {
	char *path; /* from the root; owned */
	mode_t mode;
	int error;
};

struct names {
	VEC(struct name) list;
};

static void names_free(struct names *names)
{
	for (size_t i = 0; i < names->list.count; i++)
		free(names->list.items[i].path);
	vec_free(&names->list);
}

static char *join(const char *folder, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static int add_name(struct names *names, const char *folder, int fd, const char *name)
{
	struct stat st = { 0 };
	int error = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
	struct name one = { join(folder, name), st.st_mode, error };

	if (!one.path || vec_push(&names->list, one) < 0) {
		free(one.path);
		return -ENOMEM;
	}
	return 0;
}

static int backwards(const void *x, const void *y)
{
	return strcmp(((const struct name *)y)->path, ((const struct name *)x)->path);
}

/* The last comes first: who takes them from the end has them in order. */
static int list_folder(int root, const char *folder, struct names *out)
{
	int fd = scan_open(root, folder, O_RDONLY | O_DIRECTORY), err = 0;
	DIR *open = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!open) {
		err = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	for (errno = 0; !err && (entry = readdir(open)); errno = 0) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			err = add_name(out, folder, fd, entry->d_name);
	}
	if (!err)
		err = -errno;
	closedir(open);
	if (out->list.count)
		qsort(out->list.items, out->list.count, sizeof(struct name), backwards);
	return err;
}

/* The names of a folder go on top of those that are left. */
static int push_folder(struct names *left, int root, const char *folder,
		       original_visit *visit, void *context)
{
	struct names inside = { VEC_INIT };
	int err = list_folder(root, folder, &inside);

	if (err && err != -ENOMEM) {
		visit(context, folder, S_IFDIR, -err);
		err = 0;
	}
	for (size_t i = 0; i < inside.list.count && !err; i++) {
		err = vec_push(&left->list, inside.list.items[i]);
		if (!err)
			inside.list.items[i].path = NULL;
	}
	names_free(&inside);
	return err;
}

int original_walk(int root, original_visit *visit, void *context)
{
	struct names left = { VEC_INIT };
	int err = push_folder(&left, root, "", visit, context);

	while (!err && left.list.count) {
		struct name one = left.list.items[--left.list.count];

		if (visit(context, one.path, one.mode, one.error) && !one.error &&
		    S_ISDIR(one.mode))
			err = push_folder(&left, root, one.path, visit, context);
		free(one.path);
	}
	names_free(&left);
	return err;
}
