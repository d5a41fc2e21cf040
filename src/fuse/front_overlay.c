/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * front_overlay.c: a read-only overlay before a FUSE mount, which is its lower layer.
 *
 * The overlay is made outside of the tree (overlay.h) and tried (trial.h). Then the
 * overlay is moved beneath the FUSE mount, and the FUSE mount is detached from above it:
 * a process sees one or the other. Before Linux 6.5 a mount cannot be moved beneath
 * another, so for a moment neither is there. mount(2) would put the overlay on top, and
 * then the FUSE mount could not be detached alone. A child process does all of this, with
 * the only descriptors on the mount: a descriptor of the daemon's would keep the mount
 * from ending.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fuse/front.h"
#include "fuse/overlay.h"
#include "fuse/trial.h"
#include "os/bounded.h"
#include "os/child.h"
#include "os/mountapi.h"
#include "os/mounts.h"
#include "os/namespace.h"
#include "os/fd_passing.h"

enum {
	/* a busy machine is slow; storage may never answer */
	TRY_MS = 15000,
	READ_MS = 3000,
	PROBE_MS = 50,
	END_MS = 200,
};

/* The work of a child and its result, in shared memory. */
struct overlay_task {
	struct overlay_wish wish;
	struct trial trial;
	const struct rights *rights; /* of the mount's user, or NULL: the caller's */
	bool read;         /* try a file, too */
	bool in_use;       /* there are readers */
	_Atomic bool reading; /* all tests passed, except this one that still runs */
	char why[FRONT_WHY_BYTES];
};

static int overlay_failed(struct overlay_task *task, const char *what)
{
	snprintf(task->why, sizeof(task->why), "%s: %s", what, strerror(errno));
	return 1;
}

/* Is an overlay possible? */

/* FUSE admits other users with allow_other only; an overlay admits all. */
static bool lets_others_in(const struct mount_config *config)
{
	return !config->allow_other && !namespace_is_private();
}

static int check_overlay(const struct mount_config *config, struct error *e)
{
	if (!lets_others_in(config))
		return 0;
	return error_set(e, ERROR_USAGE, EINVAL,
			 "-o shield=on: the overlay would let other users in, and nobody said "
			 "that they may; add allow_other, or mount in a private user namespace "
			 "(unshare -rm)");
}

/*
 * Linux 6.12 moves nothing beneath a mount that lies on the first mount of its namespace:
 * the initial file system, where a diskless node stays in that.
 */
static bool overlay_is_gapless(const struct mount *mount)
{
	struct mount_entry entry, parent;

	return mountapi_has_beneath() && mounts_find(mount->mountpoint, &entry) == 1 &&
	       !(mounts_find_id(entry.parent, &parent) == 1 && parent.parent == parent.id);
}

/* In the child. */

static int detach_root(int root)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", root);
	return umount2(path, MNT_DETACH);
}

/* The directory that the mount covers. */
static int open_covered(const struct mount *mount, int directory)
{
	return openat(directory, strrchr(mount->mountpoint, '/') + 1,
		      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Before Linux 6.5: detaches the mount, then attaches the overlay. */
static int change_over(struct overlay_task *task, int root, int overlay)
{
	CLEANUP(cleanup_close) int directory = openat(root, "..", O_PATH | O_CLOEXEC);
	CLEANUP(cleanup_close) int copy = mountapi_copy(root);
	CLEANUP(cleanup_close) int covered = -1;

	if (directory < 0 || copy < 0 || detach_root(root) < 0)
		return overlay_failed(task, "the mount cannot be replaced");
	covered = open_covered(task->wish.mount, directory);
	if (covered >= 0 && mountapi_move(overlay, covered, 0) == 0)
		return 0;
	overlay_failed(task, "the overlay cannot be put there");
	if (covered >= 0)
		mountapi_move(copy, covered, 0);
	return 1;
}

static int replace(struct overlay_task *task, int root, int overlay)
{
	if (mountapi_move(overlay, root, MOUNTAPI_BENEATH) < 0)
		/* an error of the call itself would also prevent the move */
		return errno == EINVAL && !task->in_use
			       ? change_over(task, root, overlay)
			       : overlay_failed(task, "the overlay cannot be put there");
	if (detach_root(root) == 0)
		return 0;
	/* another process has unmounted it meanwhile: nothing may remain */
	overlay_failed(task, "the mount cannot be taken away");
	detach_root(overlay);
	return 1;
}

/* Permanent: the overlay must show each user what the mount shows that user. */
static int become_user(struct overlay_task *task, pid_t parent)
{
	struct error e;

	if (!task->rights)
		return 0;
	if (rights_assume(task->rights, &e) < 0 || rights_renounce(&e) < 0) {
		snprintf(task->why, sizeof(task->why), "%.200s", e.text);
		return 1;
	}
	/* after the change of ids, which clears it */
	return child_ends_with_parent(parent) < 0;
}

static int overlay_try_it(struct overlay_task *task, int overlay, int bare)
{
	if (trial_list(&task->trial, overlay, bare, task->why, sizeof(task->why)) != 0)
		return 1;
	if (!task->read)
		return 0;
	task->reading = true;
	if (trial_read(&task->trial, overlay, bare, task->why, sizeof(task->why)) != 0)
		return 1;
	task->reading = false;
	return 0;
}

/* In a child of the child, in its own mount namespace. */
static int make_and_try(struct overlay_task *task, int socket, pid_t parent)
{
	CLEANUP(cleanup_close) int bare = -1;
	CLEANUP(cleanup_close) int overlay = overlay_make(&task->wish, &bare, task->why);

	if (overlay < 0)
		return 1;
	if (fd_passing_send(socket, overlay) < 0)
		return overlay_failed(task, "the overlay cannot be handed over");
	return become_user(task, parent) || overlay_try_it(task, overlay, bare);
}

/* One that was tried, or -1. */
static int have_overlay_made(struct overlay_task *task)
{
	pid_t child, parent = getpid();
	CLEANUP(cleanup_close) int overlay = -1;
	struct error e;
	int sockets[2], status = 0;

	if (fd_passing_pair(sockets) < 0 || child_fork(&child, &e) < 0) {
		overlay_failed(task, "no process can be started");
		return -1;
	}
	if (child == 0)
		_exit(make_and_try(task, sockets[1], parent));
	close(sockets[1]);
	overlay = fd_passing_receive(sockets[0]);
	close(sockets[0]);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return overlay_failed(task,
				      "the process that makes the overlay was ended"),
		       -1;
	return WEXITSTATUS(status) == 0 ? steal_fd(&overlay) : -1;
}

static int raise_in_child(void *argument)
{
	struct overlay_task *task = argument;
	CLEANUP(cleanup_close) int overlay = have_overlay_made(task);
	CLEANUP(cleanup_close) int root = -1;

	if (overlay < 0)
		return 1;
	/* late, for it makes the mount busy */
	root = overlay_open_root(task->wish.mount);
	if (root >= 0)
		return replace(task, root, overlay);
	errno = -root;
	return overlay_failed(task, "the mount does not answer");
}

/* In the supervisor. */

/* bounded_wait, with a shorter limit once the child reads from storage. */
static int overlay_await(pid_t child, const struct overlay_task *task, int *status)
{
	long long now = bounded_now(), end = now + TRY_MS, reading = 0;
	int ended;

	while ((ended = bounded_wait(child, status, PROBE_MS)) == 0) {
		now = bounded_now();
		if (task->reading && !reading)
			reading = now;
		if (now > end || (reading && now > reading + READ_MS))
			break;
	}
	return ended;
}

/* 1: the overlay is in place; 0: it is not; -ETIMEDOUT: unknown. */
static int attempt(struct overlay_task *task)
{
	pid_t child;
	int ended, status = 0;

	task->reading = false;
	child = bounded_start(raise_in_child, task);
	ended = child < 0 ? child : overlay_await(child, task, &status);
	if (ended == 1 && WIFEXITED(status))
		return WEXITSTATUS(status) == 0;
	if (ended == 0) {
		kill(child, SIGKILL);
		bounded_wait(child, &status, END_MS);
		if (task->reading)
			return -ETIMEDOUT;
	}
	snprintf(task->why, sizeof(task->why), "it took too long, or was ended");
	return 0;
}

/* The overlay is used even if storage hangs. */
static bool overlay_is_raised(const struct overlay_task *wanted,
			      char why[FRONT_WHY_BYTES])
{
	struct overlay_task *task = mmap(NULL, sizeof(*task), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result;

	snprintf(why, FRONT_WHY_BYTES, "out of memory");
	if (task == MAP_FAILED)
		return false;
	*task = *wanted;
	result = attempt(task);
	if (result == -ETIMEDOUT) {
		task->read = false;
		result = attempt(task);
	}
	snprintf(why, FRONT_WHY_BYTES, "%s", task->why);
	munmap(task, sizeof(*task));
	return result == 1;
}

/*
 * A merged root is read whole before its first name is returned, and again when the
 * kernel has dropped it.
 */
static bool root_is_too_large(const struct overlay_task *task, char why[FRONT_WHY_BYTES])
{
	const struct dataset *dataset = task->trial.dataset;
	uint32_t names;

	if (!task->wish.merged ||
	    tree_child_count(dataset_tree(dataset), dataset_root(dataset), &names) < 0 ||
	    names <= TRIAL_MERGED_MOST)
		return false;
	snprintf(why, FRONT_WHY_BYTES,
		 "its root has %u names, and here an overlay would read all of them before the "
		 "first is seen, which is for %d at most", names, TRIAL_MERGED_MOST);
	return true;
}

static bool raise_overlay(const struct mount *mount, const struct front_setup *setup,
			  char outcome[FRONT_WHY_BYTES])
{
	struct overlay_task task = {
		.wish = { .mount = mount, .source = setup->source,
			  .noexec = setup->config->noexec,
			  .merged = overlay_is_merged() },
		.rights = setup->rights, .read = true, .in_use = setup->in_use,
	};
	bool up;

	if (lets_others_in(setup->config)) {
		snprintf(outcome, FRONT_WHY_BYTES,
			 "it would let other users in, and there is no allow_other");
		return false;
	}
	trial_choose(setup->dataset, task.wish.merged, &task.trial);
	up = !root_is_too_large(&task, outcome) && overlay_is_raised(&task, outcome);
	trial_free(&task.trial);
	if (up)
		snprintf(outcome, FRONT_WHY_BYTES, "an overlay%s",
			 task.wish.merged ? " with a merged root" : "");
	return up;
}

const struct front_ops front_overlay = {
	.kind = &front_kind_overlay, .check = check_overlay,
	.is_gapless = overlay_is_gapless, .raise = raise_overlay,
};
