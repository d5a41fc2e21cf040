/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nested.c: links to packed files that are shown as directories.
 *
 * "n01440764.tar", nested, is shown as the directory "n01440764"; its own name is gone. A
 * symbolic link to the name is changed to the directory, and a hard link becomes a
 * symbolic link, for a directory has one name. If the link's own name ends like a tar's,
 * it is shortened too, unless the shorter name is taken. Paths are resolved by text,
 * without following links.
 */
#include <errno.h>
#include <string.h>

#include "build/builder.h"
#include "build/paths.h"
#include "names/packed_suffixes.h"

enum { ROUNDS = 8 }; /* of links to links */

/* The length without slashes at the end. */
static size_t bare_length(const char *text)
{
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == '/')
		n--;
	return n;
}

/* The target of a link, or NULL: no link. */
static const char *target_of(const struct builder *b, const struct inode *inode)
{
	if (inode->kind == TREE_ALIAS)
		return pending_of(b, inode)->target;
	return inode->kind == TREE_SYMLINK ? side_of(b, inode)->target : NULL;
}

static bool is_opened(const struct builder *b, uint32_t name)
{
	const struct inode *inode = inode_of(b, name);

	return (inode->kind == TREE_DIRECTORY || inode->kind == TREE_SYMLINK) &&
	       side_of(b, inode)->opened;
}

/*
 * The nested file that `target`, with the suffix, names: its name, or NO_ID, also if the
 * whole name exists. `from`: the directory at which the path starts.
 */
static int find_opened(struct builder *b, uint32_t from, const char *target, uint32_t *out)
{
	const char *end = target + bare_length(target);
	size_t suffix = packed_suffix_length(target, (size_t)(end - target)), length;
	int err = 0;

	*out = *target == '/' ? (uint32_t)NO_ID : from;
	for (const char *at = target; at < end && *out != NO_ID && !err;) {
		const char *next = path_next(at, &length);
		uint32_t directory = *out;

		if (length == 2 && memcmp(at, "..", 2) == 0)
			*out = b->names.items[directory].parent;
		else if (!path_is_dot(at, length))
			err = names_find(b, directory, at, length, out);
		if (!err && at + length == end)
			err = *out == NO_ID ? names_find(b, directory, at,
							 length - suffix, out) :
					      (*out = NO_ID, 0);
		at = next;
	}
	if (!err && *out != NO_ID && !is_opened(b, *out))
		*out = NO_ID;
	return err;
}

/* Makes the inode a symbolic link to the directory: `up` levels up, then the new name. */
static int nested_set_target(struct builder *b, uint32_t number, const char *target,
			     unsigned up)
{
	struct inode *inode = &b->inodes.items[number];
	size_t bare = bare_length(target), n = bare - packed_suffix_length(target, bare);
	size_t size = 3 * (size_t)up + n;
	char *text = arena_alloc(&b->arena, size + 1);

	if (!text)
		return -ENOMEM;
	for (unsigned i = 0; i < up; i++)
		memcpy(text + 3 * (size_t)i, "../", 3);
	memcpy(text + 3 * (size_t)up, target, n);
	text[size] = '\0';
	inode->size = size & (LAYOUT_SIZE_LIMIT - 1);
	side_of(b, inode)->target = text;
	side_of(b, inode)->opened = true;
	return 1;
}

/*
 * Adds a symbolic link to replace a hard one, with the directory's owner and time. Each
 * gets an inode of its own, since links to one target may lie at different depths.
 */
static int add_symlink(struct builder *b, const struct inode *directory, uint32_t *out)
{
	struct inode inode = *directory;
	struct layout_attr attr = b->attrs.items[inode.attr];
	uint32_t number;

	attr.mode = 0777;
	number = names_attr(b, &attr);
	if (number == NO_ID)
		return -ENOMEM;
	inode.kind = TREE_SYMLINK;
	inode.attr = number & 0xffffff;
	inode.implied = inode.sided = false;
	*out = (uint32_t)b->inodes.count;
	return vec_push(&b->inodes, inode) < 0 ? -ENOMEM : inodes_add_side(b, *out);
}

static int shorten_name(struct builder *b, uint32_t id)
{
	const struct builder_name *name = &b->names.items[id];
	char text[UINT8_MAX + 1];
	size_t n = name->length, suffix;
	uint32_t other;

	memcpy(text, text_of(b, name), n); /* texts may move */
	suffix = packed_suffix_length(text, n);
	if (suffix == 0)
		return 0;
	if (names_find(b, name->parent, text, n - suffix, &other) < 0)
		return -ENOMEM;
	return other == NO_ID ? names_rename(b, id, text, n - suffix) : 0;
}

/* The number of levels from a name's directory up to `base`. */
static unsigned count_levels(const struct builder *b, uint32_t id, uint32_t base)
{
	unsigned n = 0;

	for (id = b->names.items[id].parent; id != base && id != NO_ID; n++)
		id = b->names.items[id].parent;
	return n;
}

/* Changes a link to a nested file: 1, 0 if it is none, or -ENOMEM. */
static int retarget_link(struct builder *b, uint32_t id)
{
	struct builder_name *name = &b->names.items[id];
	const struct inode *inode = &b->inodes.items[name->inode];
	bool hard = inode->kind == TREE_ALIAS;
	uint32_t from = hard ? pending_of(b, inode)->base : name->parent, found;
	const char *target = target_of(b, inode);
	unsigned up;
	int r;

	if (side_of(b, inode)->opened) /* already done under another name */
		return shorten_name(b, id);
	if (find_opened(b, from, target, &found) < 0)
		return -ENOMEM;
	up = hard ? count_levels(b, id, from) : 0;
	if (found == NO_ID || 3 * (size_t)up + strlen(target) >= TREE_TARGET_BYTES)
		return 0;
	if (hard && add_symlink(b, inode_of(b, found), &name->inode) < 0)
		return -ENOMEM;
	r = nested_set_target(b, name->inode, target, up);
	return r > 0 && shorten_name(b, id) < 0 ? -ENOMEM : r;
}

int builder_retarget_links(struct builder *b)
{
	VEC(uint32_t) links = VEC_INIT;
	bool turned = b->opened;
	int r = 0;

	for (size_t i = 1; b->opened && i < b->names.count && r >= 0; i++) {
		const struct builder_name *name = &b->names.items[i];
		const char *target = target_of(b, &b->inodes.items[name->inode]);

		if (target && !name->dead && inode_of(b, name->parent)->kind == TREE_DIRECTORY &&
		    packed_suffix_length(target, bare_length(target)))
			r = vec_push(&links, (uint32_t)i);
	}
	for (unsigned round = 0; turned && round < ROUNDS && r >= 0; round++) {
		turned = false;
		for (size_t i = 0; i < links.count && r >= 0; i++) {
			r = retarget_link(b, links.items[i]);
			turned |= r > 0;
		}
	}
	vec_free(&links);
	return r < 0 ? r : 0;
}

const char *nested_directory_path(struct builder *b, const char *path)
{
	struct path_split split = path_split(path);
	size_t suffix = packed_suffix_length(split.leaf, split.leaf_length);
	const char *dot;

	if (split.leaf_length == 0)
		return path;
	if (suffix)
		return arena_copy(&b->arena, path,
				  (size_t)(split.leaf - path) + split.leaf_length - suffix);
	dot = memrchr(split.leaf, '.', split.leaf_length);
	if (!dot || dot == split.leaf)
		return path;
	return arena_copy(&b->arena, path, (size_t)(dot - path));
}
