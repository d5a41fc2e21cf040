/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "original.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox_child.h"
#include "packer/scan.h"
#include "build/paths.h"
#include "base/cleanup.h"
#include "base/vec.h"

/* ---- The parent ---- */

/* A path with slashes is opened by pack_scan_open, which follows no link. */
static int stat_below(int root, const char *path, struct stat *st)
{
	CLEANUP(cleanup_close) int fd = -1;

	if (!strchr(path, '/'))
		return fstatat(root, path, st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	fd = pack_scan_open(root, path, O_PATH);
	if (fd < 0)
		return fd;
	return fstat(fd, st) < 0 ? -errno : 0;
}

static int readlink_below(int root, const char *path, char target[PATH_MAX])
{
	CLEANUP(cleanup_close) int fd = pack_scan_open(root, path, O_PATH);
	ssize_t n = fd < 0 ? fd : readlinkat(fd, "", target, PATH_MAX - 1);

	if (n < 0)
		return fd < 0 ? fd : -errno;
	return (int)n;
}

/* Opens files and directories only: opening a device may have effects. */
static int open_below(int root, const char *path)
{
	CLEANUP(cleanup_close) int found = pack_scan_open(root, path, O_PATH);
	char name[32];
	struct stat st;
	int fd;

	if (found < 0)
		return found;
	if (fstat(found, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EINVAL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) /* no /proc */
		return pack_scan_open(root, path, O_RDONLY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

enum original_call { CALL_STAT, CALL_READLINK, CALL_OPEN };

static int original_answer(int root, unsigned kind, const char *path,
			   struct broker_reply *answer)
{
	int result;

	switch ((enum original_call)kind) {
	case CALL_STAT:
		answer->size = sizeof(struct stat);
		return stat_below(root, path, answer->data);
	case CALL_READLINK:
		result = readlink_below(root, path, answer->data);
		answer->size = result < 0 ? 0 : (size_t)result;
		return result < 0 ? result : 0;
	case CALL_OPEN:
		answer->fd = open_below(root, path);
		answer->passed = true;
		return answer->fd < 0 ? answer->fd : 0;
	default:
		return -ENOSYS;
	}
}

/* A check before openat2, for kernels without it. */
static bool leads_out(const char *path)
{
	return *path == '/' || path_safe(path) != path;
}

int original_serve(int root, const struct broker_request *question,
		   struct broker_reply *answer)
{
	char *path = strndup(question->data, question->size);
	int err = !path ? -ENOMEM : leads_out(path) ? -EINVAL :
			original_answer(root, question->kind, path, answer);

	free(path);
	return err;
}

/* ---- The child ---- */

static int original_request(enum original_call kind, const char *path, void *answer,
			    size_t *size, int *fd)
{
	return broker_call(sandbox_child_broker(), SANDBOX_CHILD_OWN, kind, path,
			   strlen(path), answer, size, fd);
}

int original_stat(const char *path, struct stat *st)
{
	size_t size = sizeof(*st);

	return original_request(CALL_STAT, path, st, &size, NULL);
}

int original_readlink(const char *path, char target[PATH_MAX])
{
	size_t size = PATH_MAX - 1;
	int err = original_request(CALL_READLINK, path, target, &size, NULL);

	target[err ? 0 : size] = '\0';
	return err;
}

int original_open(const char *path)
{
	int fd, err = original_request(CALL_OPEN, path, NULL, NULL, &fd);

	return err ? err : fd;
}

/* ---- The walk ---- */

struct original_name {
	char *path; /* from the root; owned */
	mode_t mode;
	int error;
};

struct original_names {
	VEC(struct original_name) list;
};

static void names_free(struct original_names *names)
{
	for (size_t i = 0; i < names->list.count; i++)
		free(names->list.items[i].path);
	vec_free(&names->list);
}

static char *original_join(const char *directory, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s%s%s", directory, *directory ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static int original_add_name(struct original_names *names, const char *directory,
			     const char *name)
{
	struct stat st = { 0 };
	struct original_name one = { .path = original_join(directory, name) };

	if (one.path)
		one.error = -original_stat(one.path, &st);
	one.mode = st.st_mode;
	if (!one.path || vec_push(&names->list, one) < 0) {
		free(one.path);
		return -ENOMEM;
	}
	return 0;
}

static int backwards(const void *x, const void *y)
{
	return strcmp(((const struct original_name *)y)->path,
		      ((const struct original_name *)x)->path);
}

/* In descending order: original_walk takes names from the end. */
static int list_directory(const char *directory, struct original_names *out)
{
	int fd = original_open(directory), err = 0;
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
			err = original_add_name(out, directory, entry->d_name);
	}
	if (!err)
		err = -errno;
	closedir(open);
	if (out->list.count)
		qsort(out->list.items, out->list.count, sizeof(struct original_name),
		      backwards);
	return err;
}

/* Pushes a directory's names onto the stack `left`. */
static int push_directory(struct original_names *left, const char *directory,
		       original_visit *visit, void *context)
{
	struct original_names inside = { VEC_INIT };
	int err = list_directory(directory, &inside);

	if (err && err != -ENOMEM) {
		visit(context, directory, S_IFDIR, -err);
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

int original_walk(original_visit *visit, void *context)
{
	struct original_names left = { VEC_INIT };
	int err = push_directory(&left, "", visit, context);

	while (!err && left.list.count) {
		struct original_name one = left.list.items[--left.list.count];

		if (visit(context, one.path, one.mode, one.error) && !one.error &&
		    S_ISDIR(one.mode))
			err = push_directory(&left, one.path, visit, context);
		free(one.path);
	}
	names_free(&left);
	return err;
}
