/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/bounded.h"
#include "os/mountapi.h"

enum { ANSWER_MILLISECONDS = 500, FUSERMOUNT_MILLISECONDS = 10000, NOT_FOUND = 127 };

/* Paths. */

char *mounts_path_of(int fd)
{
	char link[64], path[PATH_MAX + 1];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	return strdup(path);
}

/* Only a mount's name may be resolved: `mnt/.` would look into the mount. */
static void strip_tail(char *path)
{
	for (size_t n = strlen(path); n > 1; path[--n] = '\0') {
		if (path[n - 1] != '/' &&
		    !(n > 2 && path[n - 1] == '.' && path[n - 2] == '/'))
			return;
	}
}

char *mounts_path(const char *path)
{
	CLEANUP(cleanup_free) char *name = strdup(path);
	CLEANUP(cleanup_close) int fd = -1;

	if (!name)
		return NULL;
	strip_tail(name);
	fd = open(name, O_PATH | O_CLOEXEC);
	return fd < 0 ? NULL : mounts_path_of(fd);
}

/*
 * A mount, by its name in its parent directory. An O_PATH descriptor of the mount would
 * make it busy; with the whole path a user who renames a directory above could have
 * another mount unmounted.
 */
struct mounts_place {
	int directory;
	char path[64 + NAME_MAX];
};

static void close_mounts_place(struct mounts_place *place)
{
	cleanup_close(&place->directory);
}

static int mounts_find_place(const char *path, struct mounts_place *place)
{
	const char *name = strrchr(path, '/');
	CLEANUP(cleanup_free) char *above = NULL, *real = NULL;

	if (path[0] != '/' || !name[1] || strlen(name + 1) > NAME_MAX)
		return -EINVAL;
	above = name == path ? strdup("/") : strndup(path, (size_t)(name - path));
	if (!above)
		return -ENOMEM;
	place->directory = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place->directory < 0)
		return -errno;
	real = mounts_path_of(place->directory);
	if (!real)
		return -errno;
	snprintf(place->path, sizeof(place->path), "/proc/self/fd/%d/%s", place->directory,
		 name + 1);
	return strcmp(real, above) == 0 ? 0 : -ESTALE;
}

/* Ids. */

int mounts_id_of(int fd)
{
	char path[64];
	int id = MOUNT_ID_UNKNOWN;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	if (!info)
		return MOUNT_ID_UNKNOWN;
	while (fgets(path, sizeof(path), info)) {
		if (strncmp(path, "mnt_id:", 7) == 0)
			id = (int)strtol(path + 7, NULL, 10);
	}
	fclose(info);
	return id;
}

/* Is this still the mount with the id? Reads only the table. */
static int check_id(const char *path, int id)
{
	struct mount_entry entry;
	int found = mounts_find(path, &entry);

	if (found < 0)
		return found;
	if (!found)
		return -EINVAL;
	return id == MOUNT_ID_UNKNOWN || entry.id == id ? 0 : -ESTALE;
}

/* Dead or alive. */

struct question {
	const char *path;
	bool as_owner;
	uid_t uid;
	gid_t gid;
};

static bool is_dead_errno(int errnum)
{
	return errnum == ENOTCONN || errnum == ECONNABORTED;
}

/* In a child. Attributes that the kernel cached would hide that a mount is dead. */
static int mounts_open_root(void *argument)
{
	const struct question *question = argument;
	int fd = open(question->path, O_PATH | O_CLOEXEC);
	struct statx st;

	if (fd < 0)
		return is_dead_errno(errno);
	if (question->as_owner && (setresgid(question->gid, question->gid, question->gid) ||
				   setresuid(question->uid, question->uid, question->uid)))
		return 0;
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS,
		     &st) < 0 && is_dead_errno(errno);
}

bool mounts_is_dead(const char *path)
{
	struct question question = { .path = path };
	struct mount_entry entry;

	if (mounts_find(path, &entry) == 1 && strncmp(entry.type, "fuse", 4) == 0 &&
	    entry.uid != geteuid()) {
		/* FUSE admits only the owner, not even root */
		question.as_owner = geteuid() == 0;
		question.uid = entry.uid;
		question.gid = entry.gid;
	}
	return bounded_run(mounts_open_root, &question, ANSWER_MILLISECONDS) == 1;
}

/* Unmounting. */

struct fusermount {
	const char *path;
	const char *lazy; /* "-z", or NULL */
};

static int exec_fusermount(void *argument)
{
	const struct fusermount *f = argument;

	if (f->lazy)
		execlp("fusermount3", "fusermount3", "-u", "-q", f->lazy, "--", f->path,
		       (char *)NULL);
	else
		execlp("fusermount3", "fusermount3", "-u", "-q", "--", f->path,
		       (char *)NULL);
	return NOT_FOUND;
}

bool mounts_have_mtab(void)
{
	return access("/etc/mtab", F_OK) == 0;
}

/* fusermount3 has one exit status for all errors: the mount's owner tells them apart. */
static int run_fusermount(const char *path, const char *lazy)
{
	struct fusermount f = { path, lazy };
	struct mount_entry entry;
	int status = bounded_run(exec_fusermount, &f, FUSERMOUNT_MILLISECONDS);

	if (status <= 0)
		return status;
	if (status == NOT_FOUND)
		return -ENOENT;
	return !lazy && mounts_have_mtab() && mounts_find(path, &entry) == 1 &&
	       entry.uid == getuid() ? -EBUSY : -EPERM;
}

/* Holds the topmost mount at `path`, for calls that unmount it although it is held. */
static int mounts_pin(const char *path, int id, char *held, size_t size)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (id != MOUNT_ID_UNKNOWN && mounts_id_of(fd) != id) {
		close(fd);
		return -ESTALE;
	}
	snprintf(held, size, "/proc/self/fd/%d", fd);
	return fd;
}

static int detach_held(const char *path, const char *held)
{
	if (umount2(held, MNT_DETACH) == 0)
		return 0;
	return errno == EPERM ? run_fusermount(path, "-z") : -errno;
}

int mounts_detach(const char *path, int id)
{
	char held[64];
	CLEANUP(cleanup_close) int fd = mounts_pin(path, id, held, sizeof(held));

	return fd < 0 ? fd : detach_held(path, held);
}

/* The held mount keeps its id to itself, so an equal id is that of the same mount. */
int mounts_detach_dead(const char *path, int id)
{
	char held[64];
	CLEANUP(cleanup_close) int fd = mounts_pin(path, id, held, sizeof(held));
	int err;

	if (fd < 0)
		return check_id(path, id) == 0 ? fd : -ESTALE;
	if (!mounts_is_dead(path))
		return -EBUSY;
	err = check_id(path, id);
	if (!err)
		err = detach_held(path, held);
	return err && check_id(path, id) ? -ESTALE : err;
}

/* umount2(2) below the parent directory: 0 or a negative errno. */
static int unmount_placed(const char *path, int id, int flags)
{
	CLEANUP(close_mounts_place) struct mounts_place place = { .directory = -1 };
	int err = check_id(path, id);

	if (!err)
		err = mounts_find_place(path, &place);
	if (err)
		return err;
	return umount2(place.path, flags | UMOUNT_NOFOLLOW) == 0 ? 0 : -errno;
}

int mounts_unmount(const char *path, int id)
{
	int err = unmount_placed(path, id, 0);

	return err == -EPERM ? run_fusermount(path, NULL) : err;
}

int mounts_expire(const char *path, int id)
{
	return unmount_placed(path, id, MNT_EXPIRE);
}

static const char connections[] = "/sys/fs/fuse/connections";

/* Where fusectl is not mounted, root can make a private mount of it. */
static int open_fusectl(void)
{
	CLEANUP(cleanup_close) int fs = mountapi_open("fusectl");

	return fs < 0 ? -1 : mountapi_make(fs, MOUNTAPI_NOSUID | MOUNTAPI_NODEV);
}

static bool abort_connection(unsigned connection)
{
	char name[64];
	CLEANUP(cleanup_close) int directory = open(connections, O_PATH | O_CLOEXEC);
	CLEANUP(cleanup_close) int fd = -1, own = -1;

	snprintf(name, sizeof(name), "%u/abort", connection);
	fd = openat(directory, name, O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		own = open_fusectl();
		fd = own < 0 ? -1 : openat(own, name, O_WRONLY | O_CLOEXEC);
	}
	return fd >= 0 && write(fd, "1", 1) == 1;
}

/* A front does not pass MNT_FORCE on to what is behind it. */
static int force(const char *held, const struct mount_entry *entry)
{
	if (entry->front)
		return -EPERM;
	return umount2(held, MNT_FORCE | MNT_DETACH) == 0 ? 0 : -errno;
}

int mounts_abort(const char *path, int id)
{
	struct mount_entry entry;
	char held[64];
	CLEANUP(cleanup_close) int fd = -1;
	bool aborted;
	int err = check_id(path, id);

	if (err || mounts_find(path, &entry) != 1)
		return err ? err : -EINVAL;
	fd = mounts_pin(path, id, held, sizeof(held));
	if (fd < 0)
		return fd;
	err = force(held, &entry);
	if (err != -EPERM)
		return err;
	aborted = entry.connection &&
		  (abort_connection(entry.connection) || mounts_is_dead(path));
	err = mounts_detach(path, id);
	return err ? err : !aborted;
}

ino_t mounts_connection(unsigned connection)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%u", connections, connection);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}
