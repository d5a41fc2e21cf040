/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "os/fsids.h"
#include "os/namespace.h"

enum {
	DIRECTORY = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	LINKS_MOST = 40,  /* the kernel's limit */
	TRIES_MOST = 100, /* to find an unused name */
	NOBODY = 65534,   /* stands for unmapped ids (user_namespaces(7)) */
};

struct place {
	char *path;       /* owned */
	const char *name; /* points into the path */
	int directory;
	struct stat st;   /* of the directory */
	uid_t uid;        /* ids to act with */
	gid_t gid;
};

/* ---- Following a path ---------------------------------------------------- */

struct place_walk {
	int at;          /* descriptor of the directory that was reached */
	struct stat st;  /* its attributes */
	bool make;
	bool is_private; /* in a user namespace */
	bool led;        /* by another user's link: the rest is that user's path */
	uid_t uid;       /* that user's ids */
	gid_t gid;
	unsigned links;
};

/* Unmapped users' rights cannot be assumed: in such a namespace root keeps its own. */
static bool is_anothers(const struct place_walk *w, uid_t uid)
{
	return geteuid() == 0 && uid != 0 && !(w->is_private && uid == NOBODY);
}

static void note_link(struct place_walk *w, const struct stat *st)
{
	if (w->led || !is_anothers(w, st->st_uid))
		return;
	w->led = true;
	w->uid = st->st_uid;
	w->gid = st->st_gid;
}

static int reach(struct place_walk *w, int fd_taken)
{
	CLEANUP(cleanup_close) int fd = fd_taken;

	if (fd < 0 || fstat(fd, &w->st) < 0)
		return -errno;
	if (w->at >= 0)
		close(w->at);
	w->at = steal_fd(&fd);
	return 0;
}

static int open_directory(const struct place_walk *w, const char *name)
{
	int fd = openat(w->at, name, DIRECTORY);

	if (fd >= 0 || errno != ENOENT || !w->make)
		return fd;
	if (mkdirat(w->at, name, 0700) < 0 && errno != EEXIST)
		return -1;
	return openat(w->at, name, DIRECTORY);
}

/* `rest` is the path behind the link; it becomes the path behind the link's target. */
static int place_follow(struct place_walk *w, const char *name, char **rest)
{
	CLEANUP(cleanup_close) int fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX], *path;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (w->links++ == LINKS_MOST)
		return -ELOOP;
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	note_link(w, &st);
	note_link(w, &w->st);
	if (asprintf(&path, "%s%s%s", target, **rest ? "/" : "", *rest) < 0)
		return -ENOMEM;
	free(*rest);
	*rest = path;
	return *target == '/' ? reach(w, open("/", DIRECTORY)) : 0;
}

/*
 * Assumes the owner's rights in another user's directory, also for directories made
 * there.
 */
static int assume_owner(const struct place_walk *w, struct fsids *before)
{
	if (w->led)
		return fsids_assume(w->uid, w->gid, before);
	if (is_anothers(w, w->st.st_uid))
		fsids_assume(w->st.st_uid, w->st.st_gid, before);
	return 0;
}

/* Opens the first component of `rest`, and removes it from there. */
static int place_step(struct place_walk *w, char **rest)
{
	CLEANUP(fsids_restore) struct fsids before = { .taken = false };
	char name[NAME_MAX + 1];
	size_t n = strcspn(*rest, "/");
	int err = assume_owner(w, &before), fd;

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, *rest, n);
	name[n] = '\0';
	memmove(*rest, *rest + n, strlen(*rest + n) + 1);
	if (err || n == 0)
		return err;
	fd = open_directory(w, name);
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return place_follow(w, name, rest);
	return reach(w, fd);
}

static int place_begin_walk(struct place_walk *w, const char *path)
{
	w->is_private = geteuid() == 0 && namespace_is_private();
	return reach(w, open(*path == '/' ? "/" : ".", DIRECTORY));
}

/* Walks all components of `rest` but the last `left`, 0 or 1. */
static int place_walk(struct place_walk *w, char **rest, unsigned left)
{
	int err = 0;

	while (!err) {
		size_t slashes = strspn(*rest, "/");

		memmove(*rest, *rest + slashes, strlen(*rest + slashes) + 1);
		if (!**rest || (left && !strchr(*rest, '/')))
			break;
		err = place_step(w, rest);
	}
	return err;
}

/* ---- Opening ------------------------------------------------------------- */

static int place_refuse(const char *path, int err, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, -err, "%s: cannot be created: %s", path,
			 strerror(-err));
}

/* A place without a directory, and the directory's path, which the caller frees. */
static int place_begin(const char *path, struct place **out, char **directory)
{
	struct place *place = calloc(1, sizeof(*place));

	*out = place;
	if (!place)
		return -ENOMEM;
	place->directory = -1;
	place->uid = geteuid();
	place->gid = getegid();
	place->path = strdup(path);
	if (!place->path)
		return -ENOMEM;
	place->name = filename_of(place->path);
	*directory = strndup(path, (size_t)(place->name - place->path));
	if (!*directory)
		return -ENOMEM;
	return *place->name ? 0 : -EISDIR;
}

static bool leads_astray(const struct place_walk *w)
{
	return w->led && w->st.st_uid != w->uid;
}

static int refuse_path(const char *path, const struct place_walk *w, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, EPERM,
			 "%s: nothing is made there: a symbolic link of uid %u leads root into a "
			 "directory of uid %u; name the directory without it", path,
				 (unsigned)w->uid,
			 (unsigned)w->st.st_uid);
}

static int open_walked(const char *path, const char *directory, bool make, int *out,
		       struct stat *st, struct error *e)
{
	CLEANUP(cleanup_free) char *rest = strdup(directory);
	struct place_walk w = { .at = -1, .make = make };
	int err = rest ? place_begin_walk(&w, directory) : -ENOMEM;

	if (!err)
		err = place_walk(&w, &rest, 0);
	if (err)
		err = place_refuse(path, err, e);
	else if (leads_astray(&w))
		err = refuse_path(path, &w, e);
	if (err && w.at >= 0)
		close(w.at);
	*out = err ? -1 : w.at;
	*st = w.st;
	return err;
}

/* Opens the last name in the directory that was reached. */
static int open_last(struct place_walk *w, const char *name, int flags, mode_t mode)
{
	CLEANUP(fsids_restore) struct fsids before = { .taken = false };
	int err = assume_owner(w, &before), fd;

	if (err)
		return err;
	fd = openat(w->at, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

/* 0: a link was followed, and `rest` is its target. */
static int open_or_follow(struct place_walk *w, char **rest, int flags, mode_t mode)
{
	CLEANUP(cleanup_free) char *name = NULL;
	int fd = place_walk(w, rest, 1);

	if (fd)
		return fd;
	if (leads_astray(w))
		return -EXDEV;
	name = *rest;
	*rest = strdup("");
	if (!*rest)
		return -ENOMEM;
	fd = open_last(w, name, flags, mode);
	return fd == -ELOOP ? place_follow(w, name, rest) : fd ? fd : -EBADF;
}

int place_open_file(const char *path, int flags, mode_t mode, struct error *e)
{
	CLEANUP(cleanup_free) char *rest = strdup(path);
	struct place_walk w = { .at = -1 };
	int fd = rest ? place_begin_walk(&w, path) : -ENOMEM;

	while (!fd)
		fd = open_or_follow(&w, &rest, flags, mode);
	if (fd == -EXDEV)
		fd = refuse_path(path, &w, e);
	else if (fd < 0)
		place_refuse(path, fd, e);
	if (w.at >= 0)
		close(w.at);
	return fd;
}

int place_open_directory(const char *path, struct error *e)
{
	struct stat st;
	int fd, err;

	if (!*path)
		return place_refuse(path, -ENOENT, e);
	err = open_walked(path, path, false, &fd, &st, e);
	return err ? err : fd;
}

int place_open(const char *path, bool make, struct place **out, struct error *e)
{
	CLEANUP(cleanup_free) char *directory = NULL;
	struct place *place;
	int err = place_begin(path, &place, &directory);

	if (err)
		err = place_refuse(path, err, e);
	else
		err = open_walked(path, directory, make, &place->directory, &place->st, e);
	if (err)
		place_close(place);
	else
		*out = place;
	return err;
}

static int check_sibling(const struct place *place, const char *file, dev_t device,
			 ino_t inode, struct error *e)
{
	struct stat st;

	if (fstatat(place->directory, file, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == device && st.st_ino == inode)
		return 0;
	return error_set(e, ERROR_SYSTEM, ESTALE,
			 "%s: is not made, for its directory no longer holds the packed "
			 "file '%s', but another one or none; run it again if that was moved on purpose",
			 place->path, file);
}

int place_open_sibling(const char *path, const char *file, dev_t device, ino_t inode,
		       struct place **out, struct error *e)
{
	CLEANUP(cleanup_free) char *directory = NULL;
	struct place *place;
	int err = place_begin(path, &place, &directory);

	if (!err) {
		place->directory = open(*directory ? directory : ".", O_PATH |
					O_DIRECTORY | O_CLOEXEC);
		if (place->directory < 0 || fstat(place->directory, &place->st) < 0)
			err = -errno;
	}
	err = err ? place_refuse(path, err, e)
		  : check_sibling(place, file, device, inode, e);
	if (err)
		place_close(place);
	else
		*out = place;
	return err;
}

void place_close(struct place *place)
{
	if (!place)
		return;
	if (place->directory >= 0)
		close(place->directory);
	free(place->path);
	free(place);
}

const char *place_path(const struct place *place)
{
	return place->path;
}

uid_t place_uid(const struct place *place)
{
	return place->st.st_uid;
}

gid_t place_gid(const struct place *place)
{
	return place->st.st_gid;
}

void place_set_ids(struct place *place, uid_t uid, gid_t gid)
{
	struct fsids before = { .taken = false };

	if (geteuid() == 0 && fsids_assume(uid, gid, &before) == 0) {
		place->uid = uid;
		place->gid = gid;
	}
	fsids_restore(&before);
}

/* ---- Calls below the directory ---- */

/*
 * A name in the directory, and the thread's ids before the call, restored at scope end.
 */
struct act {
	struct fsids before;
	char name[NAME_MAX + 2]; /* one that is too long is cut, and still too long */
};

static void end_act(struct act *act)
{
	fsids_restore(&act->before);
}

static int begin_act(struct act *act, const struct place *place, const char *suffix)
{
	snprintf(act->name, sizeof(act->name), "%s%s", place->name, suffix);
	return fsids_assume(place->uid, place->gid, &act->before);
}

static int open_in(const struct place *place, const char *suffix, int flags, mode_t mode)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, suffix);
	int fd = err ? -1 : openat(place->directory, act.name, flags | O_NOFOLLOW |
				   O_CLOEXEC, mode);

	return err ? err : fd < 0 ? -errno : fd;
}

int place_create(const struct place *place, const char *suffix, mode_t mode)
{
	return open_in(place, suffix, O_WRONLY | O_CREAT | O_EXCL, mode);
}

static int make_suffix(char out[PLACE_TEMPORARY_BYTES])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint8_t random[PLACE_TEMPORARY_BYTES];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	out[0] = '.';
	for (unsigned i = 1; i < PLACE_TEMPORARY_BYTES - 1; i++)
		out[i] = letters[random[i] % (sizeof(letters) - 1)];
	out[PLACE_TEMPORARY_BYTES - 1] = '\0';
	return 0;
}

int place_create_temporary(const struct place *place, char out[PLACE_TEMPORARY_BYTES])
{
	int fd = -EEXIST;

	for (unsigned i = 0; i < TRIES_MOST && fd == -EEXIST; i++) {
		fd = make_suffix(out);
		if (!fd)
			fd = place_create(place, out, 0600);
	}
	return fd;
}

/* One that has lost its name is as good. */
static int create_and_unlink(const struct place *place)
{
	char suffix[PLACE_TEMPORARY_BYTES];
	int fd = -EEXIST;

	for (unsigned i = 0; i < TRIES_MOST && fd == -EEXIST; i++) {
		fd = make_suffix(suffix);
		if (!fd)
			fd = open_in(place, suffix, O_RDWR | O_CREAT | O_EXCL, 0600);
	}
	if (fd >= 0)
		place_unlink(place, suffix);
	return fd;
}

int place_create_unnamed(const struct place *place)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, "");
	int fd = err ? -1 : openat(place->directory, ".",
				   O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	if (err || fd >= 0)
		return err ? err : fd;
	return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL ?
	       create_and_unlink(place) : -errno;
}

int place_open_private(const struct place *place, const char *suffix)
{
	return open_in(place, suffix, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600);
}

int place_search(const struct place *place,
		 bool (*visit)(void *context, const char *suffix), void *context)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, "");
	int fd = err ? -1 : openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	size_t n = strlen(place->name);
	struct dirent *entry;
	bool found = false;

	if (!directory) {
		err = err ? err : -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!found && (entry = readdir(directory)))
		found = strncmp(entry->d_name, place->name, n) == 0 &&
			visit(context, entry->d_name + n);
	closedir(directory);
	return found;
}

int place_read(const struct place *place, const char *suffix)
{
	return open_in(place, suffix, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

int place_stat(const struct place *place, const char *suffix, struct stat *out)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, suffix);

	if (!err && fstatat(place->directory, act.name, out, AT_SYMLINK_NOFOLLOW) < 0)
		err = -errno;
	return err;
}

int place_rename(const struct place *place, const char *from, const char *to)
{
	CLEANUP(end_act) struct act act;
	char old[sizeof(act.name)];
	int err = begin_act(&act, place, to);

	snprintf(old, sizeof(old), "%s%s", place->name, from);
	if (!err && renameat(place->directory, old, place->directory, act.name) < 0)
		err = -errno;
	return err;
}

int place_link(const struct place *place, const char *from, const char *to)
{
	CLEANUP(end_act) struct act act;
	char old[sizeof(act.name)];
	int err = begin_act(&act, place, to);

	snprintf(old, sizeof(old), "%s%s", place->name, from);
	if (!err && linkat(place->directory, old, place->directory, act.name, 0) < 0)
		err = -errno;
	return err;
}

int place_unlink(const struct place *place, const char *suffix)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, suffix);

	if (!err && unlinkat(place->directory, act.name, 0) < 0)
		err = -errno;
	return err;
}

int place_touch(const struct place *place, int fd)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, "");

	return err ? err : futimens(fd, NULL) < 0 ? -errno : 0;
}

int place_set_owner(const struct place *place, int fd, uid_t uid, gid_t gid)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, "");

	return err ? err : fchown(fd, uid, gid) < 0 ? -errno : 0;
}

int place_set_mode(const struct place *place, int fd, mode_t mode)
{
	CLEANUP(end_act) struct act act;
	int err = begin_act(&act, place, "");

	return err ? err : fchmod(fd, mode) < 0 ? -errno : 0;
}

void place_refresh(const struct place *place)
{
	CLEANUP(end_act) struct act act;
	int fd = begin_act(&act, place, "");

	if (!fd)
		fd = openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}
