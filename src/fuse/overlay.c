/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/kernel.h"
#include "os/mountapi.h"
#include "os/mounts.h"
#include "os/namespace.h"

enum { SOURCE_BYTES = 256 }; /* of fsconfig(2)'s strings, with the NUL */

static int failed(char why[FRONT_WHY_BYTES], const char *what)
{
	snprintf(why, FRONT_WHY_BYTES, "%s: %s", what, strerror(errno));
	return -1;
}

/*
 * Linux 6.5 to 6.15 support such layers with metacopy=on only, at the cost of a request
 * for each name, and not in a user namespace. The version decides, because a kernel that
 * refuses such a layer writes a message to its log.
 */
bool overlay_is_merged(void)
{
	return namespace_is_private() || !kernel_is_since(6, 16);
}

int overlay_open_root(const struct mount *mount)
{
	struct mount_entry entry;
	CLEANUP(cleanup_close) int fd = open(mount->mountpoint,
					     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (mounts_find(mount->mountpoint, &entry) != 1 ||
	    strcmp(entry.type, MOUNT_TYPE) != 0 || entry.connection != mount->number ||
	    mounts_id_of(fd) != entry.id)
		return -ESTALE;
	return steal_fd(&fd);
}

/* Enters a mount namespace whose copy of the mount has no peers in others. */
static int enter_namespace(const struct mount *of, char why[FRONT_WHY_BYTES])
{
	CLEANUP(cleanup_close) int root = -1;
	char path[64];
	struct stat st;

	if (unshare(CLONE_NEWNS) < 0)
		return failed(why, "no mount namespace can be had");
	root = overlay_open_root(of);
	if (root < 0)
		errno = -root;
	/* an overlay copies the root's mode, which is 0 until the first getattr */
	if (root < 0 || fstatat(root, "", &st, AT_EMPTY_PATH) < 0)
		return failed(why, "the mount does not answer");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", root);
	if (mount("none", path, NULL, MS_PRIVATE, NULL) < 0)
		return failed(why, "the mount cannot be made private");
	return steal_fd(&root);
}

/* Makes the tmpfs, with the empty directory in it. */
static int make_tmpfs(int root, const char *layer, char why[FRONT_WHY_BYTES])
{
	CLEANUP(cleanup_close) int fs = mountapi_open("tmpfs");
	CLEANUP(cleanup_close) int top = fs < 0 ? -1 : mountapi_make(fs, MOUNTAPI_NOEXEC);

	if (top < 0 || mkdirat(top, layer, 0755) < 0 || mountapi_move(top, root, 0) < 0)
		return failed(why, "no overlay can be made: no empty directory for it");
	return steal_fd(&top);
}

/* The kernel's messages about a failed overlay. */
static int overlay_refused(int fs, char why[FRONT_WHY_BYTES])
{
	int errnum = errno;
	ssize_t n = fs < 0 ? -1 : read(fs, why, FRONT_WHY_BYTES - 1);

	errno = errnum;
	if (n <= 0)
		return failed(why, "no overlay can be made");
	why[n] = '\0';
	why[strcspn(why, "\n")] = '\0';
	return -1;
}

/* By descriptors: a path may hold characters that overlayfs interprets. */
static void describe_layers(char *out, size_t size, int root, int tmpfs, const char *layer,
			    bool merged)
{
	snprintf(out, size, "/proc/self/fd/%d%s/proc/self/fd/%d/%s", root,
		 merged ? ":" : "::", tmpfs, layer);
}

static int make_overlay(const struct overlay_wish *wish, const char *layers,
			char why[FRONT_WHY_BYTES])
{
	unsigned attributes = MOUNTAPI_RDONLY | MOUNTAPI_NOSUID | MOUNTAPI_NODEV |
			      (wish->noexec ? MOUNTAPI_NOEXEC : 0U);
	CLEANUP(cleanup_close) int fs = mountapi_open("overlay");
	char source[SOURCE_BYTES];
	int overlay = -1;

	snprintf(source, sizeof(source), "%s", wish->source);
	if (fs >= 0 && mountapi_set(fs, "source", source) == 0 &&
	    mountapi_set(fs, "lowerdir", layers) == 0 &&
	    mountapi_set(fs, "redirect_dir", "nofollow") == 0 &&
	    mountapi_set(fs, "metacopy", "off") == 0 &&
	    (!wish->merged || mountapi_set(fs, "xino", "on") == 0) &&
	    mountapi_set_flag(fs, "ro") == 0)
		overlay = mountapi_make(fs, attributes);
	return overlay < 0 ? overlay_refused(fs, why) : overlay;
}

int overlay_make(const struct overlay_wish *wish, int *root, char why[FRONT_WHY_BYTES])
{
	CLEANUP(cleanup_close) int fuse = enter_namespace(wish->mount, why);
	CLEANUP(cleanup_close) int tmpfs = -1;
	char layer[32], layers[128];
	int overlay;

	if (fuse < 0)
		return -1;
	snprintf(layer, sizeof(layer), "%s%u", FRONT_OVERLAY_LAYER, wish->mount->number);
	tmpfs = make_tmpfs(fuse, layer, why);
	if (tmpfs < 0)
		return -1;
	describe_layers(layers, sizeof(layers), fuse, tmpfs, layer, wish->merged);
	overlay = make_overlay(wish, layers, why);
	if (overlay >= 0)
		*root = steal_fd(&fuse);
	return overlay;
}
