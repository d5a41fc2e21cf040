/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xattr.c: extended attributes, as getxattr(2) and listxattr(2) answer. */
#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "index/mapped.h"
#include "index/tree.h"

/* The attributes of a node; count 0: none. */
static int xattr_range(const struct tree *tree, uint32_t node,
		       struct layout_xattr_node *out)
{
	int err = mapped_find(tree, SECTION_XATTR_NODES, node, out, sizeof(*out));

	if (err == -ENOENT) {
		out->count = 0;
		return 0;
	}
	if (err)
		return err;
	return out->count <= LAYOUT_XATTR_LIMIT &&
	       range_within(out->first, out->count,
			    tree->sections[SECTION_XATTRS].count) ? 0 : -EIO;
}

struct xattr {
	const char *name; /* not NUL-terminated */
	size_t name_length;
	const void *value;
	size_t value_length;
};

static int xattr_at(const struct tree *tree, uint64_t i, struct xattr *out)
{
	struct layout_xattr x;
	const uint8_t *bytes;

	if (mapped_item(tree, SECTION_XATTRS, i, &x, sizeof(x)) < 0)
		return -EIO;
	bytes = mapped_bytes(tree, SECTION_BYTES, x.at,
			     (uint64_t)x.name_length + x.value_length);
	if (!bytes || x.value_length > INT32_MAX || x.name_length > LAYOUT_NAME_MAX)
		return -EIO;
	*out = (struct xattr){ (const char *)bytes, x.name_length,
			       bytes + x.name_length, x.value_length };
	return 0;
}

int tree_getxattr(const struct tree *tree, uint32_t node, const char *name,
		  void *value, size_t size)
{
	struct layout_xattr_node range;
	struct xattr x;
	int err = xattr_range(tree, node, &range);

	for (uint32_t i = 0; !err && i < range.count; i++) {
		err = xattr_at(tree, (uint64_t)range.first + i, &x);
		if (err || x.name_length != strlen(name) ||
		    memcmp(x.name, name, x.name_length) != 0)
			continue;
		if (size && x.value_length > size)
			return -ERANGE;
		if (size)
			memcpy(value, x.value, x.value_length);
		return (int)x.value_length;
	}
	return err ? -EIO : -ENODATA;
}

int tree_listxattr(const struct tree *tree, uint32_t node, char *list, size_t size)
{
	struct layout_xattr_node range;
	struct xattr x;
	size_t used = 0;
	int err = xattr_range(tree, node, &range);

	for (uint32_t i = 0; !err && i < range.count; i++) {
		err = xattr_at(tree, (uint64_t)range.first + i, &x);
		if (err)
			break;
		if (size && used + x.name_length + 1 > size)
			return -ERANGE;
		if (size) {
			memcpy(list + used, x.name, x.name_length);
			list[used + x.name_length] = '\0';
		}
		used += x.name_length + 1;
		if (used > INT32_MAX)
			return -EIO;
	}
	return err ? -EIO : (int)used;
}
