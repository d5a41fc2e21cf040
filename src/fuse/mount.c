/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "fuse/mount_failure.h"
#include "os/bounded.h"
#include "os/mounts.h"
#include "os/place.h"

enum { LOCK_MS = 2000, LOCK_POLL_MS = 10, DETACH_MS = 1000, HELPER_MS = 12000,
       PROBE_MS = 1000, REMOVE_TRIES = 4 };

static const char device[] = "/dev/fuse";

static _Thread_local char fuse_message[256];

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 7)
__attribute__((format(printf, 2, 0))) static void
log_from_fuse(enum fuse_log_level level, const char *format, va_list args)
{
	char line[1024];
	size_t n;

	vsnprintf(line, sizeof(line), format, args);
	n = strcspn(line, "\n");
	line[n] = '\0';
	if (level >= FUSE_LOG_DEBUG)
		log_write(LOG_LEVEL_DEBUG, "%s", line);
	else if (n)
		snprintf(fuse_message, sizeof(fuse_message), "%.250s", line);
}
#endif

void mount_log_from_fuse(void)
{
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 7)
	fuse_set_log_func(log_from_fuse);
#endif
}

const char *mount_fuse_message(void)
{
	return fuse_message;
}

static int mount_error(struct error *e, int errnum, const char *mountpoint,
		       const char *what)
{
	return error_set(e, ERROR_MOUNT, errnum, "%s: %s", mountpoint, what);
}

/* The mounts that exist already. */

static int in_use(const char *mountpoint, const struct mount_entry *entry, struct error *e)
{
	return error_set(e, ERROR_MOUNT, EBUSY,
			 "%s: is in use: %s is mounted there; unmount that first, with: "
			 "%s '%s'", mountpoint, entry->granaryfs ? MOUNT_TYPE : entry->type,
			 entry->granaryfs ? "granary umount" : "umount", mountpoint);
}

/*
 * Detaches dead mounts of granaryfs; a live mount of any FUSE filesystem stays. 1: a
 * descriptor of the mount point, opened before, is outdated; 0; or a negative errno.
 */
static int clear_mountpoint(const char *mountpoint, struct error *e)
{
	struct mount_entry entry;
	int cleared = 0;

	while (mounts_find(mountpoint, &entry) == 1 &&
	       (entry.granaryfs || strncmp(entry.type, "fuse", 4) == 0)) {
		int err = entry.granaryfs ? mounts_detach_dead(mountpoint, entry.id) : -EBUSY;

		if (err == -EBUSY)
			return in_use(mountpoint, &entry, e);
		cleared = 1;
		if (err == -ESTALE) /* another process has cleared it */
			continue;
		if (err)
			return error_set(e, ERROR_MOUNT, -err,
					 "%s: a mount whose daemon has died is in the way, and "
					 "cannot be unmounted: %s; clear it with: granary umount "
					 "'%s'", mountpoint, strerror(-err), mountpoint);
		log_info("%s: a mount whose daemon had died was cleared", mountpoint);
	}
	return cleared;
}

/* The reason against a mount there, or NULL. */
static const char *mount_objection(const char *mountpoint)
{
	static const char *const needed[] = { "/dev", "/proc", "/sys" };

	if (strcmp(mountpoint, "/") == 0)
		return
			"the root directory cannot be a mount point, since nobody would "
		       "see what is there; make a directory for it";
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (strcmp(mountpoint, needed[i]) == 0)
			return "cannot be a mount point, since all programs need what is there; "
			       "make a directory for it";
	}
	return NULL;
}

static int check_mountpoint(const char *mountpoint, struct error *e)
{
	const char *why = mount_objection(mountpoint);
	struct stat st;

	if (why)
		return mount_error(e, EBUSY, mountpoint, why);
	if (stat(mountpoint, &st) < 0)
		return mount_error(e, errno, mountpoint, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return mount_error(e, ENOTDIR, mountpoint,
				   "the mount point must be a directory");
	return 0;
}

/* mount(2). */

static unsigned long flags_of(const struct mount_wish *wish)
{
	return MS_RDONLY | MS_NOSUID | MS_NODEV | (wish->noexec ? MS_NOEXEC : 0UL);
}

/*
 * Mounts on the directory that was checked when the program started, even if its name now
 * leads elsewhere. Returns the connection, or a negative errno.
 */
static int mount_directly(const struct mount_wish *wish, int directory)
{
	CLEANUP(cleanup_close) int fd = open(device, O_RDWR | O_CLOEXEC);
	char options[256 + MOUNT_CONTEXT_MOST], pinned[64];

	if (fd < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=%u,group_id=%u%s%s%s%s", fd,
		 (unsigned)S_IFDIR, wish->uid, wish->gid,
		 wish->allow_other ? ",allow_other,default_permissions" : "",
		 wish->context ? ",context=\"" : "", wish->context ? wish->context : "",
		 wish->context ? "\"" : "");
	snprintf(pinned, sizeof(pinned), "/proc/self/fd/%d", directory);
	if (mount(wish->source, pinned, MOUNT_TYPE, flags_of(wish), options) < 0)
		return -errno;
	return steal_fd(&fd);
}

/* The name that libfuse has for an existing connection. */
static int mount_adopt(struct fuse_session *fuse, int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	return fuse_session_mount(fuse, name) == 0 ? 0 : -EPROTO;
}

/* fusermount3 writes to standard error. Its message becomes a part of the error. */
static int mount_by_helper(const struct mount_wish *wish, struct fuse_session *fuse)
{
	CLEANUP(cleanup_close) int output = memfd_create("fusermount3", MFD_CLOEXEC);
	CLEANUP(cleanup_close) int stderr_before = -1;
	ssize_t n;
	int result;

	if (output < 0)
		return fuse_session_mount(fuse, wish->mountpoint);
	stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(output, STDERR_FILENO);
	result = fuse_session_mount(fuse, wish->mountpoint);
	dup2(stderr_before, STDERR_FILENO);
	n = pread(output, fuse_message, sizeof(fuse_message) - 1, 0);
	if (n > 0)
		fuse_message[n] = '\0';
	fuse_message[strcspn(fuse_message, "\n")] = '\0';
	return result == 0 ? 0 : -EPERM;
}

static int mount_somehow(const struct mount_wish *wish, int directory,
			 struct fuse_session *fuse, struct mount *out, struct error *e)
{
	int fd = mount_directly(wish, directory), err;

	*fuse_message = '\0';
	out->by_helper = fd < 0 && geteuid() != 0;
	if (fd >= 0)
		err = mount_adopt(fuse, fd);
	else
		err = out->by_helper ? mount_by_helper(wish, fuse) : fd;
	if (err)
		return mount_explain(wish, -err, fuse_message, e);
	return 0;
}

/*
 * If several processes mount at one place at once, one finds it free: the directory is
 * locked. If it cannot be locked (another process holds a lock, or the filesystem has no
 * locks), the mounts stack, as with mount(2).
 */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);

	for (int waited = 0; fd >= 0 && waited < LOCK_MS; waited += LOCK_POLL_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			break;
		bounded_pause(LOCK_POLL_MS);
	}
	return fd;
}

/*
 * The directory beneath the mount, by its path. Root does not follow a link that another
 * user has put there since.
 */
static int open_cleared(const char *mountpoint, struct error *e)
{
	int fd = place_open_directory(mountpoint, e);

	if (fd == -EPERM && e)
		e->status = ERROR_MOUNT;
	return fd >= 0 || fd == -EPERM ? fd : mount_error(e, -fd, mountpoint, strerror(-fd));
}

static int mount_ourselves(const struct mount_wish *wish, struct fuse_session *fuse,
			   struct mount *out, struct error *e)
{
	int cleared = clear_mountpoint(wish->mountpoint, e);
	CLEANUP(cleanup_close) __attribute__((unused)) int lock =
		cleared < 0 ? -1 : lock_directory(wish->mountpoint);
	int again = cleared < 0 ? cleared : clear_mountpoint(wish->mountpoint, e);
	bool anew = cleared || again || wish->directory < 0;
	CLEANUP(cleanup_close) int opened = -1;
	struct mount_entry entry = { 0 };
	int err = again < 0 ? again : check_mountpoint(wish->mountpoint, e);

	if (!err && anew)
		opened = err = open_cleared(wish->mountpoint, e);
	if (err >= 0)
		err = mount_somehow(wish, anew ? opened : wish->directory, fuse, out, e);
	if (err)
		return err;
	/* from the table: the mount does not answer yet */
	out->ours = mounts_find(wish->mountpoint, &entry) == 1;
	out->number = entry.connection;
	out->connection = fuse_session_fd(fuse);
	return 0;
}

int mount_make(const struct mount_wish *wish, struct fuse_session *fuse,
	       struct mount *out, struct error *e)
{
	bool passed = strncmp(wish->mountpoint, "/dev/fd/", 8) == 0;
	int err = 0;

	*out = (struct mount){ .connection = -1 };
	out->mountpoint = strdup(wish->mountpoint);
	if (!out->mountpoint)
		return error_no_memory(e, NULL);
	if (!passed)
		err = mount_ourselves(wish, fuse, out, e);
	else if (fuse_session_mount(fuse, wish->mountpoint) != 0)
		err = mount_explain(wish, EPERM, *fuse_message ? fuse_message : "the kernel "
				    "refused the mount",
				    e);
	if (err)
		mount_free(out);
	return err;
}

/* Then the numbers may name another mount by now. */
static bool has_ended(const struct mount *mount)
{
	struct pollfd connection = { .fd = mount->connection };

	return poll(&connection, 1, 0) == 1 && (connection.revents & POLLERR);
}

/* Is the mount the topmost one at its mount point? */
static bool mount_exists(const struct mount *mount, struct mount_entry *out)
{
	return mounts_find(mount->mountpoint, out) == 1 && out->granaryfs &&
	       out->connection == mount->number;
}

/* The present path of the mount: the mount, or a directory above it, may have moved. */
static char *locate(const struct mount *mount, struct mount_entry *out)
{
	if (!mount->ours || has_ended(mount))
		return NULL;
	if (mount_exists(mount, out))
		return strdup(mount->mountpoint);
	return mounts_of_connection(mount->number, out);
}

struct removal {
	const struct mount *mount;
	enum mount_removal how;
};

static int remove_it(void *argument)
{
	static int (*const calls[])(const char *path, int id) = {
		[MOUNT_DETACH] = mounts_detach,
		[MOUNT_UNMOUNT] = mounts_unmount,
		[MOUNT_EXPIRE] = mounts_expire,
	};
	const struct removal *removal = argument;
	struct mount_entry entry;
	CLEANUP(cleanup_free) char *path = locate(removal->mount, &entry);
	int err = path ? calls[removal->how](path, entry.id) : -ESTALE;

	/* a front may take its place meanwhile, or lie beneath it */
	for (int i = 0; i < REMOVE_TRIES && mount_exists(removal->mount, &entry) &&
			(err == -ESTALE || (!err && removal->how == MOUNT_DETACH)); i++)
		err = calls[removal->how](removal->mount->mountpoint, entry.id);
	return err < -255 ? EIO : -err;
}

static int probe_mountpoint(void *argument)
{
	struct mount_entry entry;

	return mount_exists(argument, &entry);
}

/*
 * The process that drops the last reference to a mount waits in the kernel until no bytes
 * are being stored in its page cache. If a store waits for a read that died with the
 * server, it ends when the next server has answered that read. fusermount3 may take any
 * time. The supervisor starts servers, so it must not wait here. It does not even open
 * the path, since a reference that is held for a moment may be the last one.
 */
pid_t mount_remove(const struct mount *mount, enum mount_removal how)
{
	struct removal removal = { mount, how };
	pid_t child;

	if (!mount->ours || has_ended(mount))
		return -ESTALE;
	child = bounded_start(remove_it, &removal);
	return child == -EAGAIN || child == -ENOMEM ? -remove_it(&removal) : child;
}

int mount_removed(const struct mount *mount, int status)
{
	if (status >= 0)
		return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
	/* if the child only waits for pages, the mount is out of the tree by then */
	return bounded_run(probe_mountpoint, (void *)(uintptr_t)mount, PROBE_MS) == 1 ?
		-EBUSY : 0;
}

/* Detaches, within a bounded time. */
static void mount_detach(const struct mount *mount)
{
	struct removal removal = { mount, MOUNT_DETACH };
	int result;

	if (!mount->ours || has_ended(mount))
		return;
	result = bounded_run(remove_it, &removal,
			     mount->by_helper ? HELPER_MS : DETACH_MS);
	if (result == -EAGAIN || result == -ENOMEM) /* no child can be had */
		remove_it(&removal);
}

/* An aborted connection leaves a dead mount. Any other mount there is another's. */
static void clear_dead(const struct mount *mount)
{
	struct mount_entry entry;

	if (mount->ours && has_ended(mount) && mount_exists(mount, &entry))
		mounts_detach_dead(mount->mountpoint, entry.id);
}

/*
 * libfuse records the mounts that it made, and would unmount any other that is there by
 * now. If the connection has ended, libfuse does not.
 */
void mount_end(struct mount *mount, struct fuse_session *fuse)
{
	mount_detach(mount);
	clear_dead(mount);
	if (mount->by_helper && has_ended(mount))
		fuse_session_unmount(fuse);
	mount_free(mount);
}

void mount_free(struct mount *mount)
{
	free(mount->mountpoint);
	*mount = (struct mount){ .connection = -1 };
}
