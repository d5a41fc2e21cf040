/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_tree.h: the names of an image that is being written.
 *
 * Entries come in the plan's order; an image has its directories sorted, and a
 * directory behind all that is in it. So the names are kept until the end: about 100
 * bytes each, and the name. Nothing here knows libsquashfs.
 *
 * Nodes stay where they are until squashfs_tree_free, which frees all but `inode`.
 * For one thread.
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
	struct squashfs_node *next;   /* in the parent's list, until it is sealed */
	enum pack_kind kind;
	bool given; /* it came as an entry; a directory may only be implied by others */
	uint16_t mode, owner, group; /* owner and group: positions in the table of ids */
	uint32_t mtime;              /* seconds since 1970 */
	uint32_t xattrs;             /* a position in their table; UINT32_MAX: none */
	uint32_t links;
	uint32_t number; /* of the inode; of a directory, before it is sealed, its own */
	uint64_t place;  /* of the inode in its table, once it is written */
	union {
		struct sqfs_inode_generic_t *inode; /* of a file: who adds it fills and frees it */
		const char *target;                 /* of a symlink */
		struct {                            /* of a hard link */
			const char *path;
			struct squashfs_node *first;
		} link;
		struct {
			struct squashfs_node *list;    /* until it is sealed */
			struct squashfs_node **sorted; /* then */
			size_t count;
		} directory;
	};
};

struct squashfs_tree {
	struct arena memory;
	struct squashfs_node *root;
	VEC(struct squashfs_node *) directories; /* by their numbers, the root first */
	VEC(struct squashfs_node *) files;       /* those with an inode */
	struct idmap by_name;                    /* directories, by parent and name */
	const char *last; /* the directory of the entry before, with a slash, or NULL */
	struct squashfs_node *last_parent;
	uint32_t inodes; /* once it is sealed */
};

/* 0 or -ENOMEM; squashfs_tree_free in any case. */
int squashfs_tree_init(struct squashfs_tree *tree);
void squashfs_tree_free(struct squashfs_tree *tree);

/*
 * The node of an entry: its kind, name and target are set, and it has no xattrs; the
 * rest is zero, and the caller's to fill. Directories that have not come are made, not `given`. A directory
 * that was implied is the same node when it comes. -EINVAL, -ENAMETOOLONG, -ENOMEM
 * with a sentence. Whether a name came twice is found when the tree is sealed.
 */
int squashfs_tree_add(struct squashfs_tree *tree, const struct pack_entry *entry,
		      struct squashfs_node **out, struct error *e);

/*
 * All entries have come: sorts the directories, finds what hard links mean, counts
 * links, and numbers the inodes from 1 (the root's). -EEXIST, -ENOENT, -EINVAL,
 * -ENOMEM with a sentence.
 */
int squashfs_tree_seal(struct squashfs_tree *tree, struct error *e);

/* The path of a node for a message, cut at the front if it is long. */
const char *squashfs_tree_path(const struct squashfs_node *node, char *text, size_t room);

#endif
