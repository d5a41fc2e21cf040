/*
 * shield.c: makes the overlay, tries it, and puts it in the FUSE mount's place.
 *
 * The overlay is made nowhere (fsopen(2)), read through, and only then moved beneath the
 * FUSE mount, which is taken away from above it: whoever looks sees one or the other.
 * Before Linux 6.5 nothing can be moved beneath a mount: then there is a moment
 * in which neither is there. All of it is done by a child process, which holds the only
 * descriptors on the mount: one that the daemon held would keep it from ending.
 */
#include "fuse/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/stats.h"
#include "util/bounded.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/mountapi.h"
#include "util/mounts.h"
#include "util/namespace.h"

enum {
	TRY_MILLISECONDS = 3000,
	SOURCE_BYTES = 256,      /* of fsconfig(2)'s strings, with the NUL */
	PROBE_DEPTH = 32,
	PROBE_NAMES = 4096,      /* of a folder that are looked at */
	WHY_BYTES = 256,
};

/* What a child is to do, and what has come of it: in shared memory. */
struct task {
	const struct mount *mount;
	const char *source;
	char layer[32];    /* by which the mount table tells what is behind it */
	const char *probe; /* a file's path from the root, or NULL: none is read */
	bool noexec;
	bool reading;      /* all is well but for the probe, which has not ended yet */
	char why[WHY_BYTES];
};

static int failed(struct task *task, const char *what)
{
	snprintf(task->why, sizeof(task->why), "%s: %s", what, strerror(errno));
	return 1;
}

/* May it be. */

/* FUSE keeps others out unless they are invited; an overlay does not. */
static bool lets_others_in(const struct mount_config *config)
{
	return !config->allow_other && !namespace_is_private();
}

int shield_check(const struct mount_config *config, struct error *e)
{
	if (config->shield != SHIELD_ON || !lets_others_in(config))
		return 0;
	return error_set(e, ERROR_USAGE, EINVAL,
			 "-o shield=on: the overlay would let other users in, and nobody said "
			 "that they may; add allow_other, or mount in a private user namespace "
			 "(unshare -rm)");
}

/* Why there is to be none, or NULL. */
static const char *objection(const struct mount *mount, const struct mount_config *config,
			     const struct dataset *dataset)
{
	if (config->shield == SHIELD_OFF)
		return "shield=off";
	if (!mount->ours || mount->by_helper)
		return "it takes the right to mount: be root, or in a private user namespace "
		       "(unshare -rm)";
	if (lets_others_in(config))
		return "it would let other users in, and there is no allow_other";
	if (config->shield == SHIELD_AUTO &&
	    !memory_allows_inodes(tree_kernel_bytes(tree_count(dataset_tree(dataset)), true),
				  config->budget))
		return "for so many names it would take too much memory";
	return NULL;
}

/* A file to try it with. */

static bool is_readable(const struct tree *tree, const struct tree_name *name)
{
	struct tree_stat st;

	return name->kind == TREE_FILE && tree_stat(tree, name->node, &st) == 0 && st.size;
}

/* Of the names of a folder the first file with bytes, or else the first folder. */
static bool choose(const struct tree *tree, uint32_t folder, struct tree_name *out)
{
	bool found = false;

	for (uint32_t i = 0; i < PROBE_NAMES; i++) {
		struct tree_name name;

		if (tree_child(tree, folder, i, &name) < 0)
			break;
		if (is_readable(tree, &name)) {
			*out = name;
			return true;
		}
		if (!found && name.kind == TREE_DIRECTORY) {
			*out = name;
			found = true;
		}
	}
	return found;
}

/* Its path from the mount's root; NULL where none is found soon. */
static char *find_probe(const struct dataset *dataset)
{
	const struct tree *tree = dataset_tree(dataset);
	uint32_t folder = dataset_root(dataset);
	char path[PROBE_DEPTH * 256];
	size_t used = 0;

	for (int depth = 0; depth < PROBE_DEPTH; depth++) {
		struct tree_name name;

		if (!choose(tree, folder, &name) || name.length > 255)
			return NULL;
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%s%.*s",
					 used ? "/" : "", (int)name.length, name.name);
		if (name.kind == TREE_FILE)
			return used < sizeof(path) ? strdup(path) : NULL;
		if (used >= sizeof(path))
			return NULL;
		folder = name.node;
	}
	return NULL;
}

/* In the child. */

/* The root of our mount, if it is still what is seen there. */
static int open_root(const struct mount *mount)
{
	struct mount_entry entry;
	CLEANUP(cleanup_close) int fd = open(mount->mountpoint,
					     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	errno = ESTALE;
	if (mounts_find(mount->mountpoint, &entry) != 1 ||
	    strcmp(entry.type, MOUNT_TYPE) != 0 || entry.connection != mount->number ||
	    mounts_id_of(fd) != entry.id)
		return -1;
	return steal_fd(&fd);
}

/* An overlay without an upper layer wants two lower ones. In a tmpfs that is nowhere, */
static int open_own_tmpfs(const char *name)
{
	CLEANUP(cleanup_close) int fs = mountapi_open("tmpfs");
	CLEANUP(cleanup_close) int top = fs < 0 ? -1 : mountapi_make(fs, MOUNTAPI_NOEXEC);

	if (top < 0 || mkdirat(top, name, 0755) < 0)
		return -1;
	return steal_fd(&top);
}

/* or, before Linux 6.15, in a folder that is removed when the overlay is made, */
static int open_new_folder(const char *name)
{
	static const char *const places[] = { "/run", "/tmp", "/dev/shm" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "%s/granaryfs.XXXXXX", places[i]);
		if (!mkdtemp(path))
			continue;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && mkdirat(fd, name, 0755) == 0)
			return fd;
		cleanup_close(&fd);
		rmdir(path);
	}
	return -1;
}

/* the second one is an empty folder, whose name tells what is behind the overlay. */
static void remove_folder(int folder, const char *name)
{
	char link[64], path[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	n = readlink(link, path, sizeof(path) - 1);
	if (unlinkat(folder, name, AT_REMOVEDIR) < 0 || n <= 0)
		return;
	path[n] = '\0';
	rmdir(path);
}

/* What the kernel says of why an overlay could not be made. */
static int refused(struct task *task, int fs)
{
	int errnum = errno;
	ssize_t n = fs < 0 ? -1 : read(fs, task->why, sizeof(task->why) - 1);

	errno = errnum;
	if (n <= 0)
		return failed(task, "no overlay can be made");
	task->why[n] = '\0';
	task->why[strcspn(task->why, "\n")] = '\0';
	return 1;
}

/* By descriptors: paths may hold what means something to overlayfs. */
static int make_overlay(struct task *task, int root, int folder, bool data_only)
{
	unsigned attributes = MOUNTAPI_RDONLY | MOUNTAPI_NOSUID | MOUNTAPI_NODEV |
			      (task->noexec ? MOUNTAPI_NOEXEC : 0U);
	CLEANUP(cleanup_close) int fs = mountapi_open("overlay");
	char source[SOURCE_BYTES], lower[192];
	int overlay = -1;

	snprintf(source, sizeof(source), "%s", task->source);
	snprintf(lower, sizeof(lower), "/proc/self/fd/%d%s/proc/self/fd/%d/%s", root,
		 data_only ? "::" : ":", folder, task->layer);
	if (fs >= 0 && mountapi_set(fs, "source", source) == 0 &&
	    mountapi_set(fs, "lowerdir", lower) == 0 &&
	    mountapi_set(fs, "redirect_dir", "nofollow") == 0 &&
	    mountapi_set(fs, "metacopy", "off") == 0 &&
	    (data_only || mountapi_set(fs, "xino", "on") == 0) &&
	    mountapi_set_flag(fs, "ro") == 0)
		overlay = mountapi_make(fs, attributes);
	if (overlay < 0)
		refused(task, fs);
	return overlay;
}

/*
 * A data-only second layer leaves the root what it is, with its own link count, and
 * fast to list. Before Linux 6.5, and in a user namespace, there is none: then the root
 * is a merged folder.
 */
static int make_some_overlay(struct task *task, int root)
{
	int (*const open_folder[])(const char *) = { open_own_tmpfs, open_new_folder };
	int overlay = -1;

	failed(task, "there is no empty folder");
	for (size_t i = 0; i < 2 && overlay < 0; i++) {
		CLEANUP(cleanup_close) int folder = open_folder[i](task->layer);

		if (folder < 0)
			continue;
		overlay = make_overlay(task, root, folder, true);
		if (overlay < 0)
			overlay = make_overlay(task, root, folder, false);
		if (open_folder[i] == open_new_folder)
			remove_folder(folder, task->layer);
	}
	return overlay;
}

/* 0, or an errno. */
static int read_one(int root, const char *path)
{
	CLEANUP(cleanup_close) int fd = openat(root, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char byte;

	return fd >= 0 && pread(fd, &byte, 1, 0) >= 0 ? 0 : errno;
}

/* Some kernels make an overlay through which nothing can be read. */
static int try_reading(struct task *task, int root, int overlay)
{
	int err;

	if (!task->probe)
		return 0;
	task->reading = true;
	err = read_one(overlay, task->probe);
	/* a damaged file says nothing against the overlay */
	if (err && read_one(root, task->probe) != err) {
		errno = err;
		return failed(task, "no file can be read through an overlay");
	}
	task->reading = false;
	return 0;
}

static int take_away(int root)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", root);
	return umount2(path, MNT_DETACH);
}

/* What our mount covers. */
static int open_covered(const struct mount *mount, int folder)
{
	return openat(folder, strrchr(mount->mountpoint, '/') + 1,
		      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Before Linux 6.5: first the one away, then the other there. */
static int change_over(struct task *task, int root, int overlay)
{
	CLEANUP(cleanup_close) int folder = openat(root, "..", O_PATH | O_CLOEXEC);
	CLEANUP(cleanup_close) int copy = mountapi_copy(root);
	CLEANUP(cleanup_close) int covered = -1;

	if (folder < 0 || copy < 0 || take_away(root) < 0)
		return failed(task, "the mount cannot be replaced");
	covered = open_covered(task->mount, folder);
	if (covered >= 0 && mountapi_move(overlay, covered, 0) == 0)
		return 0;
	failed(task, "the overlay cannot be put there");
	if (covered >= 0)
		mountapi_move(copy, covered, 0);
	return 1;
}

static int replace(struct task *task, int root, int overlay)
{
	if (mountapi_move(overlay, root, MOUNTAPI_BENEATH) < 0)
		return change_over(task, root, overlay);
	return take_away(root) == 0 ? 0 : failed(task, "the mount cannot be taken away");
}

static int raise_shield(void *argument)
{
	struct task *task = argument;
	CLEANUP(cleanup_close) int root = open_root(task->mount);
	CLEANUP(cleanup_close) int overlay = -1;
	struct stat st;

	/* an overlay copies the root's mode, which is 0 until somebody has asked for it */
	if (root < 0 || fstatat(root, "", &st, AT_EMPTY_PATH) < 0)
		return failed(task, "the mount does not answer");
	overlay = make_some_overlay(task, root);
	if (overlay < 0 || try_reading(task, root, overlay) != 0)
		return 1;
	return replace(task, root, overlay);
}

/* In the supervisor. */

/* 1: it is there; 0: it is not; -ETIMEDOUT: nor is it clear whether it works. */
static int attempt(struct task *task)
{
	int result;

	task->reading = false;
	result = bounded_run(raise_shield, task, TRY_MILLISECONDS);
	if (result == -ETIMEDOUT && task->reading)
		return -ETIMEDOUT;
	if (result < 0)
		snprintf(task->why, sizeof(task->why), "it took too long, or was ended");
	return result == 0;
}

/* Storage that hangs is no reason against it. */
static bool raised(const struct task *wanted, char why[WHY_BYTES])
{
	struct task *task = mmap(NULL, sizeof(*task), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result;

	snprintf(why, WHY_BYTES, "out of memory");
	if (task == MAP_FAILED)
		return false;
	*task = *wanted;
	result = attempt(task);
	if (result == -ETIMEDOUT) {
		task->probe = NULL;
		result = attempt(task);
	}
	snprintf(why, WHY_BYTES, "%s", task->why);
	munmap(task, sizeof(*task));
	return result == 1;
}

static int without(const struct mount *mount, const struct mount_config *config,
		   const char *why, struct error *e)
{
	if (config->shield == SHIELD_ON)
		return error_set(e, ERROR_MOUNT, EPERM,
				 "%s: -o shield=on: %s; leave shield= out to mount without it",
				 mount->mountpoint, why);
	log_info("%s: without the shield: %s", mount->mountpoint, why);
	return 0;
}

int shield_raise(const struct mount *mount, const struct mount_config *config,
		 const struct dataset *dataset, const char *source, struct error *e)
{
	const char *against = objection(mount, config, dataset);
	CLEANUP(cleanup_free) char *probe = against ? NULL : find_probe(dataset);
	struct task task = { .mount = mount, .source = source, .probe = probe,
			     .noexec = config->noexec };
	char why[WHY_BYTES];

	if (against)
		return without(mount, config, against, e);
	snprintf(task.layer, sizeof(task.layer), "%s%u", MOUNT_SHIELD_LAYER, mount->number);
	if (!raised(&task, why))
		return without(mount, config, why, e);
	stats_set(COUNTER_shielded, 1);
	log_info("%s: shielded by an overlay", mount->mountpoint);
	return 0;
}
