/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_tree.c: directories are found by a hash of their parent's number and their
 * name. Most entries lie in the directory of the last entry, which is tried first. Files
 * are in no table: the first name of a hard link is found by its path, once all
 * directories are sorted.
 */
#include "packer/squashfs_tree.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
	NAME_LIMIT = 255,         /* bytes, of the format: squashfs_fs.h, SQUASHFS_NAME_LEN */
	DEPTH_LIMIT = PATH_MAX / 2, /* the depth of the longest path */
	TARGET_LIMIT = PATH_MAX - 1, /* the kernel's limit for a symlink */
};

struct sqfs_tree_key {
	uint32_t parent;
	const char *name;
	size_t length;
};

static uint32_t sqfs_tree_hash(const struct sqfs_tree_key *key)
{
	return (uint32_t)hash_bytes(key->name, key->length, key->parent);
}

static bool sqfs_tree_is_directory(const void *context, uint32_t id, const void *sought)
{
	const struct squashfs_tree *tree = context;
	const struct squashfs_node *node = tree->directories.items[id];
	const struct sqfs_tree_key *key = sought;

	return id && node->parent->number == key->parent &&
	       strlen(node->name) == key->length &&
	       memcmp(node->name, key->name, key->length) == 0;
}

static struct squashfs_node *make_node(struct squashfs_tree *tree, const char *name,
				       size_t length, enum pack_kind kind)
{
	struct squashfs_node *node = arena_alloc(&tree->memory, sizeof(*node));
	char *copy = arena_copy(&tree->memory, name, length);

	if (!node || !copy)
		return NULL;
	memset(node, 0, sizeof(*node));
	node->name = copy;
	node->kind = kind;
	node->links = 1;
	node->xattrs = UINT32_MAX;
	return node;
}

static void sqfs_tree_adopt(struct squashfs_node *parent, struct squashfs_node *node)
{
	node->parent = parent;
	node->next = parent->directory.list;
	parent->directory.list = node;
	parent->directory.count++;
}

static int make_directory(struct squashfs_tree *tree, struct squashfs_node *parent,
			  const struct sqfs_tree_key *key, struct squashfs_node **out)
{
	struct squashfs_node *node = make_node(tree, key->name, key->length,
					       PACK_DIRECTORY);

	if (!node || tree->directories.count >= UINT32_MAX)
		return -ENOMEM;
	node->number = (uint32_t)tree->directories.count;
	if (vec_push(&tree->directories, node) < 0)
		return -ENOMEM;
	sqfs_tree_adopt(parent, node);
	*out = node;
	return idmap_insert(&tree->by_name, sqfs_tree_hash(key), node->number);
}

/* Enters the directory of that name; created if it does not exist. */
static int enter(struct squashfs_tree *tree, struct squashfs_node **at, const char *name,
		 size_t length)
{
	const struct sqfs_tree_key key = { (*at)->number, name, length };
	const struct idmap_slot *slot = idmap_find(&tree->by_name, sqfs_tree_hash(&key),
						   sqfs_tree_is_directory, tree, &key);

	if (!slot)
		return make_directory(tree, *at, &key, at);
	*at = tree->directories.items[slot->id_plus_1 - 1];
	return 0;
}

static bool same_directory(const struct squashfs_tree *tree, const char *path,
			   size_t length)
{
	return tree->last && strlen(tree->last) == length &&
	       memcmp(tree->last, path, length) == 0;
}

/* The directory of the name at path + length; length counts the slash. */
static int find_parent(struct squashfs_tree *tree, const char *path, size_t length,
		       struct squashfs_node **out)
{
	const char *name = path, *slash;
	int rc = 0;

	if (same_directory(tree, path, length)) {
		*out = tree->last_parent;
		return 0;
	}
	*out = tree->root;
	if (!length)
		return 0;
	for (; !rc && name < path + length; name = slash + 1) {
		slash = strchr(name, '/');
		rc = enter(tree, out, name, (size_t)(slash - name));
	}
	if (rc < 0)
		return rc;
	tree->last = arena_copy(&tree->memory, path, length);
	tree->last_parent = *out;
	return tree->last ? 0 : -ENOMEM;
}

static int check_name(const char *path, const char *name, size_t length, struct error *e)
{
	if (length == 0 || (length == 1 && name[0] == '.') ||
	    (length == 2 && name[0] == '.' && name[1] == '.'))
		return error_set(e, ERROR_SYSTEM, EINVAL,
				 "%s: no path of a packed file: a part of it is empty or "
				 "dots", path);
	if (length > NAME_LIMIT)
		return error_set(e, ERROR_SYSTEM, ENAMETOOLONG,
				 "%s: a name of %zu bytes, and squashfs has room for %d: "
				 "rename it, or pack to tar", path, length, NAME_LIMIT);
	return 0;
}

static int sqfs_tree_check_path(const char *path, struct error *e)
{
	const char *name = path, *end;
	int depth = 0, rc;

	for (;; name = end + 1) {
		end = strchrnul(name, '/');
		rc = check_name(path, name, (size_t)(end - name), e);
		if (rc < 0)
			return rc;
		if (++depth > DEPTH_LIMIT)
			return error_set(e, ERROR_SYSTEM, ENAMETOOLONG,
					 "%.100s...: more than %d directories in one "
					 "another: no path of the system reaches it", path,
					 DEPTH_LIMIT);
		if (!*end)
			return 0;
	}
}

static int check_target(const struct pack_entry *entry, struct error *e)
{
	size_t length;

	if (entry->kind != PACK_SYMLINK && entry->kind != PACK_HARDLINK)
		return 0;
	length = strlen(entry->target);
	if (entry->kind == PACK_SYMLINK && length > TARGET_LIMIT)
		return error_set(e, ERROR_SYSTEM, ENAMETOOLONG,
				 "%s: a symbolic link to a path of %zu bytes; no system "
				 "follows more than %d", entry->path, length, TARGET_LIMIT);
	return 0;
}

int squashfs_tree_init(struct squashfs_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree->root = make_node(tree, "", 0, PACK_DIRECTORY);
	if (!tree->root)
		return -ENOMEM;
	tree->root->parent = tree->root;
	return vec_push(&tree->directories, tree->root);
}

void squashfs_tree_free(struct squashfs_tree *tree)
{
	for (size_t i = 0; i < tree->directories.count; i++)
		free(tree->directories.items[i]->directory.sorted);
	vec_free(&tree->directories);
	vec_free(&tree->files);
	idmap_free(&tree->by_name);
	arena_free(&tree->memory);
}

static int add_leaf(struct squashfs_tree *tree, const struct pack_entry *entry,
		    struct squashfs_node *parent, const char *name,
		    struct squashfs_node **out)
{
	struct squashfs_node *node = make_node(tree, name, strlen(name), entry->kind);
	const char *target = NULL;

	if (entry->target && entry->kind != PACK_FILE) {
		target = arena_copy(&tree->memory, entry->target, strlen(entry->target));
		if (!target)
			return -ENOMEM;
	}
	if (!node || (entry->kind == PACK_FILE && vec_push(&tree->files, node) < 0))
		return -ENOMEM;
	if (entry->kind == PACK_SYMLINK)
		node->target = target;
	else if (entry->kind == PACK_HARDLINK)
		node->link.path = target;
	sqfs_tree_adopt(parent, node);
	*out = node;
	return 0;
}

static int sqfs_tree_add(struct squashfs_tree *tree, const struct pack_entry *entry,
			 struct squashfs_node **out)
{
	const char *slash = strrchr(entry->path, '/');
	const size_t length = slash ? (size_t)(slash - entry->path) + 1 : 0;
	const char *name = entry->path + length;
	struct squashfs_node *parent;
	int rc = find_parent(tree, entry->path, length, &parent);

	if (rc < 0)
		return rc;
	*out = parent;
	if (entry->kind == PACK_DIRECTORY)
		return enter(tree, out, name, strlen(name));
	return add_leaf(tree, entry, parent, name, out);
}

int squashfs_tree_add(struct squashfs_tree *tree, const struct pack_entry *entry,
		      struct squashfs_node **out, struct error *e)
{
	int rc;

	if (entry->kind == PACK_DIRECTORY && !*entry->path) {
		*out = tree->root;
	} else {
		rc = sqfs_tree_check_path(entry->path, e);
		if (!rc)
			rc = check_target(entry, e);
		if (rc < 0)
			return rc;
		if (sqfs_tree_add(tree, entry, out) < 0)
			return error_set(e, ERROR_SYSTEM, ENOMEM,
					 "%s: no memory for its name", entry->path);
	}
	if ((*out)->given)
		return error_set(e, ERROR_SYSTEM, EEXIST, "%s: comes twice", entry->path);
	(*out)->given = true;
	return 0;
}

/* The path of a node for a message, cut at the front if it is long. */
static const char *squashfs_tree_path(const struct squashfs_node *node, char *text, size_t room)
{
	size_t at = room - 1, length;

	text[at] = '\0';
	for (; node->parent != node; node = node->parent) {
		length = strlen(node->name);
		if (length + 1 > at)
			break;
		if (text[at])
			text[--at] = '/';
		at -= length;
		memcpy(text + at, node->name, length);
	}
	return text + at;
}

static int sqfs_tree_by_name(const void *a, const void *b)
{
	const struct squashfs_node *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

static int sort_directory(struct squashfs_node *directory, struct error *e)
{
	const size_t count = directory->directory.count;
	struct squashfs_node **sorted = calloc(count + 1, sizeof(struct squashfs_node *));
	struct squashfs_node *node;
	char path[1024];
	size_t i = 0;

	if (!sorted)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "no memory to sort %zu names",
				 count);
	for (node = directory->directory.list; node; node = node->next)
		sorted[i++] = node;
	qsort(sorted, count, sizeof(*sorted), sqfs_tree_by_name);
	directory->directory.sorted = sorted;
	for (i = 1; i < count; i++)
		if (sqfs_tree_by_name(&sorted[i - 1], &sorted[i]) == 0)
			return error_set(e, ERROR_SYSTEM, EEXIST, "%s: comes twice",
					 squashfs_tree_path(sorted[i], path, sizeof(path)));
	return 0;
}

static struct squashfs_node *find_child(const struct squashfs_node *directory,
					const char *name, size_t length)
{
	size_t low = 0, high = directory->directory.count, middle;
	int order;

	while (low < high) {
		struct squashfs_node *node;

		middle = low + (high - low) / 2;
		node = directory->directory.sorted[middle];
		order = strncmp(name, node->name, length);
		if (!order && !node->name[length])
			return node;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The node of a path, or NULL. */
static struct squashfs_node *find_node(const struct squashfs_tree *tree, const char *path)
{
	struct squashfs_node *node = tree->root;
	const char *end;

	for (;; path = end + 1) {
		end = strchrnul(path, '/');
		if (node->kind != PACK_DIRECTORY)
			return NULL;
		node = find_child(node, path, (size_t)(end - path));
		if (!node || !*end)
			return node;
	}
}

static int sqfs_tree_resolve_link(const struct squashfs_tree *tree,
				  struct squashfs_node *node, struct error *e)
{
	struct squashfs_node *first = find_node(tree, node->link.path);
	char path[1024];

	if (!first || (first->kind != PACK_FILE && first->kind != PACK_SYMLINK))
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "%s: a hard link to %s, which is no file of this pack",
				 squashfs_tree_path(node, path, sizeof(path)),
				 node->link.path);
	node->link.first = first;
	first->links++;
	return 0;
}

static int seal_children(struct squashfs_tree *tree, struct squashfs_node *directory,
			 struct error *e)
{
	int rc = 0;

	directory->links = 2;
	for (size_t i = 0; i < directory->directory.count && !rc; i++) {
		struct squashfs_node *node = directory->directory.sorted[i];

		if (node->kind == PACK_HARDLINK)
			rc = sqfs_tree_resolve_link(tree, node, e);
		else if (tree->inodes == UINT32_MAX - 1)
			rc = error_set(e, ERROR_SYSTEM, EOVERFLOW,
				       "more files than squashfs can number");
		else
			node->number = ++tree->inodes;
		directory->links += node->kind == PACK_DIRECTORY;
	}
	return rc;
}

int squashfs_tree_seal(struct squashfs_tree *tree, struct error *e)
{
	int rc = 0;

	for (size_t i = 0; i < tree->directories.count && !rc; i++)
		rc = sort_directory(tree->directories.items[i], e);
	tree->root->number = tree->inodes = 1;
	for (size_t i = 0; i < tree->directories.count && !rc; i++)
		rc = seal_children(tree, tree->directories.items[i], e);
	return rc;
}
