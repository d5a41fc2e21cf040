/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h: the sealed tree: every name of a dataset, immutable.
 *
 * A node is a number; 0 is the root. The tree is in an index (index/index.h) that may be
 * hostile: every function checks the data that it reads, and returns -EIO if they are
 * invalid. Returned pointers point into the index and live as long as it.
 *
 * Threads: any number at once, without a lock.
 */
#ifndef GRANARY_INDEX_TREE_H
#define GRANARY_INDEX_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree;

enum {
	TREE_ROOT = 0,
	TREE_NAME_BYTES = 1100, /* what Linux keeps for a name that it knows */
};

enum tree_kind {
	TREE_DIRECTORY,
	TREE_FILE,
	TREE_SYMLINK,
	TREE_ALIAS, /* never returned: replaced by the node that it names */
};

struct tree_stat {
	enum tree_kind kind;
	uint32_t node;     /* the node of the inode (an alias has another) */
	uint32_t mode;     /* permission bits */
	uint32_t uid, gid;
	uint32_t links;
	uint64_t size;     /* directory: 0 */
	uint64_t stored;   /* bytes without the holes */
	int64_t mtime;     /* seconds since the epoch */
	uint32_t mtime_ns;
};

/* A directory entry. `name` is not NUL-terminated. */
struct tree_name {
	uint32_t node;       /* as in tree_stat: aliases are resolved */
	enum tree_kind kind;
	const char *name;
	size_t length;
};

/* A contiguous range of a file's bytes, or a hole. */
struct tree_piece {
	bool hole;
	uint32_t volume;
	uint64_t offset; /* in the volume */
	uint64_t length; /* from the requested offset */
	uint64_t start;  /* where the whole extent begins in the volume */
	uint64_t whole;  /* its length, for its guard */
};

/* The number of names, the root included. */
uint32_t tree_count(const struct tree *tree);

bool tree_has_holes(const struct tree *tree);
bool tree_has_xattrs(const struct tree *tree);

int tree_stat(const struct tree *tree, uint32_t node, struct tree_stat *out);

/* The node of a name in a directory, not an alias. -ENOENT, -ENOTDIR. */
int tree_lookup(const struct tree *tree, uint32_t directory, const char *name,
		size_t length, uint32_t *out);

/* Follows a path of names without symlinks, "a/b/c"; "" is `directory`. */
int tree_walk(const struct tree *tree, uint32_t directory, const char *path,
	      uint32_t *out);

/* The number of names in a directory; -ENOTDIR. */
int tree_child_count(const struct tree *tree, uint32_t directory, uint32_t *out);

/* The i-th name of a directory, sorted by bytes. -ENOENT behind the last. */
int tree_child(const struct tree *tree, uint32_t directory, uint32_t i,
	       struct tree_name *out);

int tree_parent(const struct tree *tree, uint32_t node, uint32_t *out);

enum { TREE_TARGET_BYTES = 4096 }; /* Linux's limit, with the NUL */

/*
 * Copies the target and a NUL into `target`, which holds TREE_TARGET_BYTES. -EINVAL if
 * the node is no symlink.
 */
int tree_readlink(const struct tree *tree, uint32_t node, char *target);

/* The piece of a file from `offset` on, which must be below its size. */
int tree_piece(const struct tree *tree, uint32_t node, uint64_t offset,
	       struct tree_piece *out);

/*
 * Extended attributes, as getxattr(2) and listxattr(2): with size 0 the result is the
 * size needed; -ERANGE, -ENODATA.
 */
int tree_getxattr(const struct tree *tree, uint32_t node, const char *name,
		  void *value, size_t size);
int tree_listxattr(const struct tree *tree, uint32_t node, char *list, size_t size);

/*
 * The path of a node from the root, without a leading slash, for messages: cut at the
 * left to `size`. Returns `out`.
 */
char *tree_path(const struct tree *tree, uint32_t node, char *out, size_t size);

#endif
