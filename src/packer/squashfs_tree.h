/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_tree.h: the names of an image that is being written.
 *
 * Entries come in the plan's order. An image has sorted directories, each written after
 * its contents. So the names stay in memory until the end: about 100 bytes each, and the
 * name. This file does not depend on libsquashfs.
 *
 * Nodes do not move; squashfs_tree_free frees all but `inode`. Threads: one.
 */
#ifndef GRANARY_PACKER_SQUASHFS_TREE_H
#define GRANARY_PACKER_SQUASHFS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "packer/writer.h"

struct sqfs_inode_generic_t;

struct squashfs_node {
	const char *name;
	struct squashfs_node *parent; /* of the root: itself */
	struct squashfs_node *next;   /* in the parent's list, until sealed */
	enum pack_kind kind;
	bool given; /* from an entry; else implied by the path of another */
	uint16_t mode, owner, group; /* owner and group: positions in the table of ids */
	uint32_t mtime;              /* seconds since 1970 */
	uint32_t xattrs;             /* a position in the xattr table; UINT32_MAX: none */
	uint32_t links;
	uint32_t number; /* of the inode; of a directory, until sealed, its own */
	uint64_t place;  /* of the inode in its table, once written */
	union {
		struct sqfs_inode_generic_t *inode; /* of a file; the caller's */
		const char *target;                 /* of a symlink */
		struct {                            /* of a hard link */
			const char *path;
			struct squashfs_node *first;
		} link;
		struct {
			struct squashfs_node *list;    /* until sealed */
			struct squashfs_node **sorted; /* once sealed */
			size_t count;
		} directory;
	};
};

struct squashfs_tree {
	struct arena memory;
	struct squashfs_node *root;
	VEC(struct squashfs_node *) directories; /* by number, the root first */
	VEC(struct squashfs_node *) files;       /* those with an inode */
	struct idmap by_name;                    /* directories, by parent and name */
	const char *last; /* the directory of the last entry, with a slash, or NULL */
	struct squashfs_node *last_parent;
	uint32_t inodes; /* once sealed */
};

/* 0 or -ENOMEM; call squashfs_tree_free in any case. */
int squashfs_tree_init(struct squashfs_tree *tree);
void squashfs_tree_free(struct squashfs_tree *tree);

/*
 * Adds an entry. Its node has kind, name and target, and no xattrs; the caller fills the
 * rest, which is zero, and owns a file's inode. Missing directories are made, not
 * `given`; an entry for one gets the same node. -EINVAL, -ENAMETOOLONG, -ENOMEM with a
 * sentence. Duplicate names are found by squashfs_tree_seal.
 */
int squashfs_tree_add(struct squashfs_tree *tree, const struct pack_entry *entry,
		      struct squashfs_node **out, struct error *e);

/*
 * After the last entry: sorts the directories, resolves hard links, counts links, and
 * numbers the inodes from 1 (the root's). -EEXIST, -ENOENT, -EINVAL, -ENOMEM with a
 * sentence.
 */
int squashfs_tree_seal(struct squashfs_tree *tree, struct error *e);

#endif
