/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.c: accessors. An index may be hostile: each accessor copies a node once, and
 * checks every number before its use. Children have higher numbers than their directory,
 * so no walk has a cycle.
 */
#include "index/tree.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "index/mapped.h"

enum { DEPTH_LIMIT = 100000 };

int mapped_item(const struct tree *tree, enum layout_section_id section, uint64_t i,
		void *out, size_t item_size)
{
	const struct section *s = &tree->sections[section];

	if (i >= s->count)
		return -EIO;
	memcpy(out, s->base + i * item_size, item_size);
	return 0;
}

const uint8_t *mapped_bytes(const struct tree *tree, enum layout_section_id section,
			    uint64_t at, uint64_t length)
{
	const struct section *s = &tree->sections[section];

	if (!range_within(at, length, s->count))
		return NULL;
	return s->base + at;
}

int mapped_node(const struct tree *tree, uint32_t node, struct layout_node *out)
{
	return mapped_item(tree, SECTION_NODES, node, out, sizeof(*out));
}

static bool tree_is_plain_name(const char *name, size_t length)
{
	if (length == 0 || memchr(name, '/', length) || memchr(name, '\0', length))
		return false;
	return !(name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')));
}

/*
 * The name of a node other than the root: -EIO if it is no valid file name. A hostile
 * index may have "..", or a name with a slash.
 */
static int node_name(const struct tree *tree, const struct layout_node *node,
		     const char **name, size_t *length)
{
	uint64_t at = (uint64_t)node->name_high << 32 | node->name_low;
	const uint8_t *bytes = mapped_bytes(tree, SECTION_NAMES, at, 1);

	if (!bytes)
		return -EIO;
	*length = *bytes;
	*name = (const char *)bytes + 1;
	return mapped_bytes(tree, SECTION_NAMES, at, 1 + *length) &&
	       tree_is_plain_name(*name, *length) ? 0 : -EIO;
}

uint32_t tree_count(const struct tree *tree)
{
	return (uint32_t)tree->sections[SECTION_NODES].count;
}

bool tree_has_holes(const struct tree *tree)
{
	/* without extents a file may be one hole; it is served as zeros */
	return tree->sections[SECTION_EXTENTS].count > 0;
}

bool tree_has_xattrs(const struct tree *tree)
{
	return tree->sections[SECTION_XATTRS].count > 0;
}

/* Resolves an alias. */
static int resolve(const struct tree *tree, uint32_t *node, struct layout_node *out)
{
	int err = mapped_node(tree, *node, out);
	uint64_t target;

	if (err || node_kind(out) != TREE_ALIAS)
		return err;
	target = node_location(out);
	if (target >= tree_count(tree))
		return -EIO;
	*node = (uint32_t)target;
	err = mapped_node(tree, *node, out);
	if (err)
		return err;
	return node_kind(out) == TREE_ALIAS || node_kind(out) == TREE_DIRECTORY ? -EIO : 0;
}

int mapped_find(const struct tree *tree, enum layout_section_id section,
		uint32_t node, void *out, size_t item_size)
{
	uint64_t low = 0, high = tree->sections[section].count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		uint32_t key;
		int err = mapped_item(tree, section, middle, out, item_size);

		if (err)
			return err;
		memcpy(&key, out, sizeof(key));
		if (key == node)
			return 0;
		if (key < node)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}

static int extent_range(const struct tree *tree, const struct layout_node *node,
			uint64_t *first, uint64_t *count)
{
	*first = node->where_low;
	*count = node->where_high;
	return range_within(*first, *count, tree->sections[SECTION_EXTENTS].count) ?
		       0 : -EIO;
}

static int tree_stored_bytes(const struct tree *tree, const struct layout_node *node,
			     uint64_t *out)
{
	struct layout_extent last;
	uint64_t first, count;

	*out = node_size(node);
	if (!(node_flags(node) & NODE_MANY))
		return 0;
	*out = 0;
	if (extent_range(tree, node, &first, &count) < 0)
		return -EIO;
	if (count && mapped_item(tree, SECTION_EXTENTS, first + count - 1, &last,
				 sizeof(last)) < 0)
		return -EIO;
	if (count)
		*out = last.stored;
	return 0;
}

/* The members of a stat that depend on the kind: links and sizes. */
static int stat_sizes(const struct tree *tree, uint32_t node,
		      const struct layout_node *n, struct tree_stat *out)
{
	struct layout_link link;

	out->links = 1;
	if (out->kind == TREE_DIRECTORY) {
		out->links = 2 + n->size_low;
		return 0;
	}
	if (node_flags(n) & NODE_LINKS) {
		if (mapped_find(tree, SECTION_LINKS, node, &link, sizeof(link)) < 0)
			return -EIO;
		out->links = link.links;
	}
	out->size = node_size(n);
	return tree_stored_bytes(tree, n, &out->stored);
}

int tree_stat(const struct tree *tree, uint32_t node, struct tree_stat *out)
{
	struct layout_node n;
	struct layout_attr attr;
	int err = resolve(tree, &node, &n);

	if (err)
		return err;
	if (mapped_item(tree, SECTION_ATTRS, n.flags_attr & 0xffffff, &attr,
			sizeof(attr)) < 0)
		return -EIO;
	*out = (struct tree_stat){
		.kind = node_kind(&n), .node = node,
		.mode = attr.mode & 0777, .uid = attr.uid, .gid = attr.gid,
		.mtime = node_mtime(&n),
		.mtime_ns = (n.kind_nsec & 0x3fffffff) % 1000000000U,
	};
	return stat_sizes(tree, node, &n, out);
}

/* The children of a directory: [*first, *first + *count). */
static int child_range(const struct tree *tree, uint32_t directory,
		       uint32_t *first, uint32_t *count)
{
	struct layout_node n;
	int err = mapped_node(tree, directory, &n);

	if (err)
		return err;
	if (node_kind(&n) != TREE_DIRECTORY)
		return -ENOTDIR;
	*first = n.where_low;
	*count = n.where_high;
	if (*count && (*first <= directory || !range_within(*first, *count, tree_count(tree))))
		return -EIO;
	return 0;
}

static int tree_compare_name(const struct tree *tree, uint32_t directory, uint32_t node,
			     const char *name, size_t length, int *order)
{
	struct layout_node n;
	const char *there;
	size_t there_length;

	/* each node has one parent, so a hostile tree has no cycles either */
	if (mapped_node(tree, node, &n) < 0 || n.parent != directory ||
	    node_name(tree, &n, &there, &there_length) < 0)
		return -EIO;
	*order = memcmp(name, there, length < there_length ? length : there_length);
	if (*order == 0)
		*order = (length > there_length) - (length < there_length);
	return 0;
}

int tree_lookup(const struct tree *tree, uint32_t directory, const char *name,
		size_t length, uint32_t *out)
{
	struct layout_node n;
	uint32_t low, count, high;
	int err = child_range(tree, directory, &low, &count);

	if (err)
		return err;
	high = low + count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order;

		if (tree_compare_name(tree, directory, middle, name, length, &order) < 0)
			return -EIO;
		if (order == 0) {
			*out = middle;
			return resolve(tree, out, &n);
		}
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}

int tree_walk(const struct tree *tree, uint32_t directory, const char *path,
	      uint32_t *out)
{
	*out = directory;
	for (;;) {
		size_t length;
		int err;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (length == 0)
			return 0;
		if (length != 1 || path[0] != '.') {
			err = tree_lookup(tree, *out, path, length, out);
			if (err)
				return err;
		}
		path += length;
	}
}

int tree_child_count(const struct tree *tree, uint32_t directory, uint32_t *out)
{
	uint32_t first;

	return child_range(tree, directory, &first, out);
}

int tree_child(const struct tree *tree, uint32_t directory, uint32_t i,
	       struct tree_name *out)
{
	struct layout_node n;
	uint32_t first, count;
	int err = child_range(tree, directory, &first, &count);

	if (err)
		return err;
	if (i >= count)
		return -ENOENT;
	out->node = first + i;
	err = mapped_node(tree, out->node, &n);
	if (!err && n.parent != directory)
		err = -EIO;
	if (!err)
		err = node_name(tree, &n, &out->name, &out->length);
	if (!err)
		err = resolve(tree, &out->node, &n);
	out->kind = node_kind(&n);
	return err;
}

int tree_parent(const struct tree *tree, uint32_t node, uint32_t *out)
{
	struct layout_node n;
	int err = mapped_node(tree, node, &n);

	if (err)
		return err;
	*out = n.parent;
	return n.parent < tree_count(tree) && n.parent <= node ? 0 : -EIO;
}

int tree_readlink(const struct tree *tree, uint32_t node, char *target)
{
	struct layout_node n;
	const uint8_t *bytes;
	uint64_t size;
	int err = resolve(tree, &node, &n);

	if (err)
		return err;
	if (node_kind(&n) != TREE_SYMLINK)
		return -EINVAL;
	size = node_size(&n);
	bytes = mapped_bytes(tree, SECTION_BYTES, node_location(&n), size + 1);
	if (!bytes || size >= TREE_TARGET_BYTES)
		return -EIO;
	memcpy(target, bytes, size + 1);
	if (memchr(target, '\0', size + 1) != target + size)
		return -EIO;
	return 0;
}

/* The first extent that ends behind `offset`: its number, or first + count. */
static int find_extent(const struct tree *tree, uint64_t first, uint64_t count,
		       uint64_t offset, uint64_t *out)
{
	uint64_t low = first, high = first + count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2, end;
		struct layout_extent x;

		if (mapped_item(tree, SECTION_EXTENTS, middle, &x, sizeof(x)) < 0 ||
		    !checked_add(x.file_offset, x.length, &end))
			return -EIO;
		if (end > offset)
			high = middle;
		else
			low = middle + 1;
	}
	*out = low;
	return 0;
}

static int piece_of_many(const struct tree *tree, const struct layout_node *n,
			 uint64_t offset, struct tree_piece *out)
{
	uint64_t first, count, i, size = node_size(n);
	struct layout_extent x = { .file_offset = size };

	if (extent_range(tree, n, &first, &count) < 0 ||
	    find_extent(tree, first, count, offset, &i) < 0)
		return -EIO;
	if (i < first + count &&
	    mapped_item(tree, SECTION_EXTENTS, i, &x, sizeof(x)) < 0)
		return -EIO;
	if (x.file_offset > offset) {
		uint64_t end = x.file_offset < size ? x.file_offset : size;

		*out = (struct tree_piece){ .hole = true, .length = end - offset };
		return 0;
	}
	if (x.length <= offset - x.file_offset)
		return -EIO;
	*out = (struct tree_piece){
		.volume = x.volume,
		.length = x.length - (offset - x.file_offset),
		.start = x.offset,
		.whole = x.length,
	};
	return checked_add(x.offset, offset - x.file_offset, &out->offset) ? 0 : -EIO;
}

int tree_piece(const struct tree *tree, uint32_t node, uint64_t offset,
	       struct tree_piece *out)
{
	struct layout_node n;
	int err = resolve(tree, &node, &n);
	uint64_t size;

	if (err)
		return err;
	size = node_size(&n);
	if (node_kind(&n) != TREE_FILE)
		return -EINVAL;
	if (offset >= size)
		return -ENXIO;
	if (node_flags(&n) & NODE_MANY) {
		err = piece_of_many(tree, &n, offset, out);
		if (!err && out->length > size - offset)
			out->length = size - offset;
		return err;
	}
	*out = (struct tree_piece){
		.volume = (uint32_t)(node_location(&n) >> 40),
		.offset = (node_location(&n) & (VOLUME_OFFSET_LIMIT - 1)) + offset,
		.length = size - offset,
		.start = node_location(&n) & (VOLUME_OFFSET_LIMIT - 1),
		.whole = size,
	};
	return 0;
}

char *tree_path(const struct tree *tree, uint32_t node, char *out, size_t size)
{
	char *at = out + size;

	*--at = '\0';
	for (int depth = 0; node != TREE_ROOT && depth < DEPTH_LIMIT; depth++) {
		struct layout_node n;
		const char *name;
		size_t length, room = (size_t)(at - out);

		if (mapped_node(tree, node, &n) < 0 ||
		    node_name(tree, &n, &name, &length) < 0 || length + 1 > room ||
		    n.parent >= node)
			break;
		if (*at)
			*--at = '/';
		at -= length;
		memcpy(at, name, length);
		node = n.parent;
	}
	return memmove(out, at, (size_t)(out + size - at));
}
