/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_all.c: the child has none of the daemon's descriptors, so that a listing that hangs
 * does not hold the connection open whose end it waits for. It makes async-signal-safe
 * calls only, for other threads of the server may hold locks at the fork.
 */
#include "fuse/list_all.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuse/kernel_inodes.h"
#include "os/bounded.h"

enum {
	LIST_MS = 10 * 60 * 1000,
	LISTING_BYTES = 1 << 20, /* of one call: as much as one request brings */
};

struct list_all {
	const struct served *served;
	const char *mountpoint;
};

/* Has the directory a file that the kernel does not know? Not if it is no directory. */
static bool list_all_is_needed(const struct list_all *all, uint32_t directory)
{
	const struct tree *tree = dataset_tree(all->served->dataset);
	struct tree_name name;

	for (uint32_t i = 0; tree_child(tree, directory, i, &name) == 0; i++) {
		if (name.kind == TREE_FILE && !inodes_has(all->served->inodes, name.node))
			return true;
	}
	return false;
}

/* The directory's path below the mount point: false: it is too long, or not in the mount. */
static bool list_all_path(const struct list_all *all, uint32_t directory,
			  char out[PATH_MAX])
{
	const struct tree *tree = dataset_tree(all->served->dataset);
	char root[PATH_MAX], path[PATH_MAX];
	size_t cut, size = strlen(all->mountpoint), length;

	tree_path(tree, dataset_root(all->served->dataset), root, sizeof(root));
	tree_path(tree, directory, path, sizeof(path));
	cut = strlen(root);
	if (strncmp(path, root, cut) != 0 || (cut && path[cut] && path[cut] != '/'))
		return false;
	length = strlen(path + cut);
	if (size + 1 + length >= PATH_MAX)
		return false;
	memcpy(out, all->mountpoint, size);
	out[size] = '/';
	memcpy(out + size + 1, path + cut, length + 1);
	return true;
}

static void list_all_list(const char *path)
{
	static char names[LISTING_BYTES];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	while (syscall(SYS_getdents64, fd, names, sizeof(names)) > 0)
		continue;
	close(fd);
}

/* Finds the next directory to list, `from` or behind it. */
static bool list_all_find(const struct list_all *all, uint32_t from, uint32_t *out)
{
	uint32_t nodes = tree_count(dataset_tree(all->served->dataset));

	for (*out = from; *out < nodes; ++*out) {
		if (list_all_is_needed(all, *out))
			return true;
	}
	return false;
}

static int list_all_in_child(void *argument)
{
	const struct list_all *all = argument;

	prctl(PR_SET_NAME, "granaryfs-list");
	for (uint32_t node = 0; list_all_find(all, node, &node); node++) {
		char path[PATH_MAX];

		if (list_all_path(all, node, path))
			list_all_list(path);
	}
	return 0;
}

void list_all_directories(const struct served *served, const char *mountpoint)
{
	struct list_all all = { served, mountpoint };
	uint32_t first;

	if (served->terms.readdirplus && list_all_find(&all, 0, &first))
		bounded_run(list_all_in_child, &all, LIST_MS);
}
