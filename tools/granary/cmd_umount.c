/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_umount.c: granary umount MOUNTPOINT...
 *
 * The command ends even if a daemon or filesystem hangs: a job's epilogue waits for it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "granary.h"
#include "os/bounded.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/vec.h"
#include "os/mounts.h"

enum {
	LAYERS_MOST = 64,
	PATH_SECONDS = 5,
	BUSY_MILLISECONDS = 1000, /* a program that is about to close its files */
	CONNECTION_MILLISECONDS = 5000,
	CALL_MILLISECONDS = 12000, /* fusermount3 has ten seconds */
	READERS = 254,             /* not an errno: mounts_abort's 1 */
	PAUSE_LEAST = 10, PAUSE_MOST = 160,
};

/* One mount point. */
struct umount_work {
	const char *given;
	bool force;

	/* the result */
	unsigned layers; /* unmounted ones */
	bool lazy;       /* files were open, and still are */
	bool readers;    /* with `force`: their requests could not be aborted */
	bool held;       /* it is mounted elsewhere as well */
	struct error error;

	/* of the layers without open files */
	struct connection {
		unsigned number;
		ino_t inode;
	} connections[LAYERS_MOST];
	unsigned connection_count;
};

static const char *explain_not_permitted(void)
{
	if (geteuid() == 0)
		return "root may not, in this container; do it outside";
	if (!mounts_have_mtab())
		return "fusermount3 looks for its owner in /etc/mtab, which is not there; ask "
		       "for: ln -s /proc/self/mounts /etc/mtab";
	return "only its owner and root may, and its owner needs fusermount3 to be set-uid "
	       "root";
}

static int umount_fail(struct umount_work *work, const char *path, int err)
{
	const char *why = strerror(-err);

	if (err == -EPERM)
		why = explain_not_permitted();
	else if (err == -ENOENT)
		why = "there is no fusermount3; install the package fuse3, or ask root";
	else if (err == -ETIMEDOUT && geteuid() != 0)
		why = "fusermount3 has not answered for ten seconds; ask root";
	else if (err == -ETIMEDOUT)
		why = "the kernel has not answered for ten seconds; end its daemon, and try "
		      "again";
	return error_set(&work->error, ERROR_MOUNT, -err,
			 "%s: it cannot be unmounted: %s", path, why);
}

struct umount_call {
	int (*call)(const char *path, int id);
	const char *path;
	int id;
};

static int do_call(void *argument)
{
	const struct umount_call *c = argument;
	int err = c->call(c->path, c->id);

	return err > 0 ? READERS : -err;
}

/*
 * Runs `call` in a child: unmounting the last copy of a mount may wait in the kernel for
 * a daemon that does not answer, after the mount has left the tree.
 */
static int bounded_call(int (*call)(const char *path, int id), const char *path, int id)
{
	struct umount_call c = { call, path, id };
	int result = bounded_run(do_call, &c, CALL_MILLISECONDS);

	if (result == -EAGAIN || result == -ENOMEM) /* no child could be started */
		return call(path, id);
	if (result == -ETIMEDOUT && mounts_find_id(id, NULL) == 0)
		return 0;
	return result == READERS ? 1 : result > 0 ? -result : result;
}

static int abort_layer(struct umount_work *work, const char *path, int id)
{
	int err = bounded_call(mounts_abort, path, id);

	work->readers |= work->force && err == 1;
	return err < 0 ? err : 0;
}

/* Programs that are about to end are waited for; then the mount is detached. */
static int unmount_busy(struct umount_work *work, const char *path, int id)
{
	long long end = bounded_now() + BUSY_MILLISECONDS;
	unsigned pause = PAUSE_LEAST;
	int err = -EBUSY;

	if (mounts_is_dead(path))
		return abort_layer(work, path, id);
	while (err == -EBUSY && bounded_now() < end) {
		bounded_pause(pause);
		pause = pause * 2 < PAUSE_MOST ? pause * 2 : PAUSE_MOST;
		err = bounded_call(mounts_unmount, path, id);
	}
	if (err != -EBUSY)
		return err;
	err = bounded_call(mounts_detach, path, id);
	work->lazy |= !err;
	return err;
}

static int unmount_layer(struct umount_work *work, const char *path,
			 const struct mount_entry *mount)
{
	struct connection connection = { mount->connection,
					 mounts_connection(mount->connection) };
	int err;

	if (work->force)
		return abort_layer(work, path, mount->id);
	err = bounded_call(mounts_unmount, path, mount->id);
	if (err == -EBUSY)
		return unmount_busy(work, path, mount->id);
	if (!err)
		work->connections[work->connection_count++] = connection;
	return err;
}

/*
 * The connection ends with the filesystem, and the filesystem with the last copy of its
 * mount. A job may have a copy in a mount namespace of its own.
 */
static void await_connections(struct umount_work *work)
{
	long long end = bounded_now() + CONNECTION_MILLISECONDS;
	const struct connection *c = work->connections;
	unsigned left = work->connection_count;

	while (left && !work->held) {
		if (!c->inode || mounts_connection(c->number) != c->inode) {
			c++;
			left--;
		} else if (bounded_now() >= end) {
			work->held = true;
		} else {
			bounded_pause(PAUSE_LEAST);
		}
	}
}

/* Detaching a mount also detaches the mounts inside of it: only with --force. */
static int check_inside(struct umount_work *work, const char *path, int id)
{
	CLEANUP(cleanup_free) char *inside = NULL;

	if (work->force || mounts_inside(id, &inside) != 1)
		return 0;
	return error_set(&work->error, ERROR_MOUNT, EBUSY,
			 "%s: something is mounted in it, at %s; unmount that first, or both "
			 "with: granary umount --force", path, inside);
}

static int wrong_type(struct umount_work *work, const char *path, const char *type)
{
	if (work->layers)
		return 0; /* the layer was there before granaryfs was mounted */
	return error_set(&work->error, ERROR_MOUNT, EINVAL,
			 "%s: is a mount of %s, not of granaryfs; use umount", path, type);
}

/* Unmounts layer after layer, as long as the topmost is granaryfs. */
static int unmount_all(struct umount_work *work, const char *path)
{
	for (int i = 0; i < LAYERS_MOST; i++) {
		struct mount_entry mount;
		int found = mounts_find(path, &mount), err;

		if (found < 0)
			return error_set(&work->error, ERROR_SYSTEM, -found,
					 "/proc/self/mountinfo: %s; is /proc mounted?",
					 strerror(-found));
		if (!found)
			return 0;
		if (!mount.granaryfs)
			return wrong_type(work, path, mount.type);
		err = check_inside(work, path, mount.id);
		if (err)
			return err;
		err = unmount_layer(work, path, &mount);
		/* another granary umount may have unmounted this layer */
		if (err && mounts_find_id(mount.id, NULL) != 0)
			return umount_fail(work, path, err);
		work->layers += !err;
	}
	return error_set(&work->error, ERROR_MOUNT, EBUSY, "%s: there was always another "
			 "mount beneath the last; is something mounting it again?", path);
}

/* Resolves the path in a child: a filesystem on the way may hang. */
struct umount_walk {
	const char *given;
	int err;
	char path[PATH_MAX];
};

static int umount_walk(void *argument)
{
	struct umount_walk *walk = argument;
	CLEANUP(cleanup_free) char *path = mounts_path(walk->given);

	walk->err = path ? 0 : -errno;
	if (path)
		snprintf(walk->path, sizeof(walk->path), "%s", path);
	return 0;
}

static int walk_failed(struct umount_work *work, int err)
{
	if (err == -ETIMEDOUT)
		return error_set(&work->error, ERROR_MOUNT, ETIMEDOUT,
				 "%s: cannot be found, for a filesystem above it hangs; "
				 "unmount that first", work->given);
	return error_set(&work->error, ERROR_SYSTEM, -err, "%s: %s", work->given,
			 err == -ENOTCONN ? "a mount above it is dead; unmount that first" :
			 strerror(-err));
}

static int unmount(struct umount_work *work)
{
	struct umount_walk *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (shared == MAP_FAILED)
		return walk_failed(work, -ENOMEM);
	shared->given = work->given;
	err = bounded_run(umount_walk, shared, PATH_SECONDS * 1000);
	err = err ? err : shared->err;
	if (err == -ENOENT)
		err = 0; /* a path that does not exist is not mounted */
	else
		err = err ? walk_failed(work, err) : unmount_all(work, shared->path);
	await_connections(work);
	munmap(shared, sizeof(*shared));
	return err;
}

static void print_remarks(const struct umount_work *work)
{
	if (work->lazy)
		log_warn("%s: has disappeared, but files in it are still open; its daemon "
			 "ends when they are closed", work->given);
	if (work->held)
		log_warn("%s: is unmounted, but still mounted elsewhere, perhaps in the "
			 "mount namespace of a container; its daemon serves that on",
			 work->given);
	if (work->readers)
		log_warn("%s: is unmounted; processes with open files may still wait: to "
			 "end that takes root, or fusectl at /sys/fs/fuse/connections",
			 work->given);
}

static void print_json(const struct umount_work *work, bool failed)
{
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_text(&json, "mountpoint", work->given);
	json_bool(&json, "unmounted", !failed && work->layers > 0);
	json_uint(&json, "layers", work->layers);
	json_bool(&json, "lazy", work->lazy);
	json_bool(&json, "held", work->held);
	if (failed)
		json_text(&json, "error", work->error.text);
	json_close(&json, '}');
	putchar('\n');
	fflush(stdout); /* the next mount is looked at by a child process */
}

/* Unmounts one, and says what came of it: 0 or an exit status. */
static int unmount_given(const struct request *request, const char *given)
{
	struct umount_work work = { .given = given, .force = request->given['f'] };
	bool failed = unmount(&work) < 0;
	int status = 0;

	print_remarks(&work);
	if (failed)
		status = report_error(&work.error);
	if (request->json)
		print_json(&work, failed);
	return status;
}

/* Those in this mount namespace that this user may unmount. */
struct umount_paths {
	char **items;
	size_t count, room;
};

static void free_paths(struct umount_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	vec_free(paths);
}

static int add_path(void *context, const struct mount_entry *entry, const char *path,
		    const char *source)
{
	struct umount_paths *paths = context;
	char *copy;

	(void)source;
	/* a front is root's, or ends with the command of granary run */
	if (geteuid() != 0 && (entry->front || entry->uid != geteuid()))
		return 0;
	copy = strdup(path);
	if (copy && vec_push(paths, copy) == 0)
		return 0;
	free(copy);
	return -ENOMEM;
}

/* The last one first: it may lie in another. */
static int unmount_all_mounts(const struct request *request)
{
	CLEANUP(free_paths) struct umount_paths paths = { 0 };
	int err = mounts_each(add_path, &paths), worst = 0;
	struct error e;

	if (err) {
		error_set(&e, ERROR_SYSTEM, -err, "/proc/self/mountinfo: %s; is /proc mounted?",
			  strerror(-err));
		return report_error(&e);
	}
	for (size_t i = paths.count; i > 0; i--) {
		int status = unmount_given(request, paths.items[i - 1]);

		worst = status ? status : worst;
	}
	return worst;
}

static int unmount_arguments(const struct request *request)
{
	int worst = 0;

	for (size_t i = 0; i < request->argument_count; i++) {
		int status = unmount_given(request, request->arguments[i]);

		worst = status ? status : worst;
	}
	return worst;
}

static int check_arguments(const struct request *request)
{
	if (request->given['a'] && request->argument_count > 0)
		return report_usage(request->command, "either --all or mount points");
	if (!request->given['a'] && request->argument_count == 0)
		return report_usage(request->command, "an argument is missing");
	for (size_t i = 0; i < request->argument_count; i++) {
		if (!*request->arguments[i]) /* an unset variable of the shell */
			return report_usage(request->command, "a mount point has no name");
	}
	return 0;
}

static int run(struct request *request)
{
	int worst = check_arguments(request), output;

	if (worst)
		return worst;
	worst = request->given['a'] ? unmount_all_mounts(request)
				    : unmount_arguments(request);
	output = finish_output();
	return worst ? worst : output;
}

static const struct option longs[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "force", no_argument, NULL, 'f' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_umount = {
	.name = "umount", .usage = "[--force] [--json] --all | MOUNTPOINT...",
	.summary = "Unmounts, also what a dead daemon left; nothing mounted is no error",
	.help = "    --all                           every granaryfs that this user may unmount\n"
		"    --force                         readers get an error\n",
	.shorts = "", .longs = longs, .takes_nothing = true, .run = run,
};
