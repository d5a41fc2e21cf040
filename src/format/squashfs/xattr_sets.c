/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/squashfs/xattr_sets.h"

#include <string.h>

#include <endian.h>

#include "format/limits.h"

enum {
	PREFIX_MASK = 0xff,
	PREFIX_USER = 0,
	VALUE_OUT_OF_LINE = 0x100, /* in place of the value is a reference to it */
};

static const char user[] = "user.";

/* As stored, little-endian. */
struct xattr_sets_key {
	uint16_t type;
	uint16_t name_size;
};

/* One of a set. The name is empty where it is not wanted, or too long. */
struct xattr_sets_xattr {
	unsigned type;
	size_t name_size; /* with its namespace */
	char name[LIMIT_XATTR_NAME_BYTES + 1];
	struct squashfs_cursor value; /* where its bytes are */
	uint32_t value_size;
};

/* The size before a value, whose bytes follow. */
static int xattr_sets_read_size(struct squashfs_image *image,
				struct squashfs_cursor *cursor, uint32_t *size)
{
	int err = squashfs_read(image, cursor, size, sizeof(*size));

	if (!err)
		*size = le32toh(*size);
	return err;
}

static int find_out_of_line(struct squashfs_image *image, struct squashfs_cursor *cursor,
			    struct xattr_sets_xattr *xattr)
{
	uint64_t reference;
	int err = squashfs_read(image, cursor, &reference, sizeof(reference));

	if (err)
		return err;
	if (xattr->value_size != sizeof(reference))
		return squashfs_damaged(image, "the place of an xattr");
	xattr->value = squashfs_xattrs_at(image, le64toh(reference));
	return xattr_sets_read_size(image, &xattr->value, &xattr->value_size);
}

/* Finds the value, and moves the cursor behind what is stored here. */
static int find_value(struct squashfs_image *image, struct squashfs_cursor *cursor,
		      struct xattr_sets_xattr *xattr)
{
	int err = xattr_sets_read_size(image, cursor, &xattr->value_size);

	if (err)
		return err;
	if (xattr->type & VALUE_OUT_OF_LINE)
		return find_out_of_line(image, cursor, xattr);
	xattr->value = *cursor;
	return squashfs_read(image, cursor, NULL, xattr->value_size);
}

static int xattr_sets_read_name(struct squashfs_image *image,
				struct squashfs_cursor *cursor,
				struct xattr_sets_xattr *xattr)
{
	size_t prefix = sizeof(user) - 1, size;
	struct xattr_sets_key key;
	char *name = NULL;
	int err = squashfs_read(image, cursor, &key, sizeof(key));

	if (err)
		return err;
	size = le16toh(key.name_size);
	xattr->type = le16toh(key.type);
	xattr->name_size = prefix + size;
	memset(xattr->name, 0, sizeof(xattr->name));
	if (xattr->name_size <= LIMIT_XATTR_NAME_BYTES) {
		memcpy(xattr->name, user, prefix);
		name = xattr->name + prefix;
	}
	err = squashfs_read(image, cursor, name, size);
	if (!err && name && strlen(name) != size)
		err = squashfs_damaged(image, "the name of an xattr");
	return err;
}

static bool xattr_sets_fits(const struct squashfs_xattrs *xattrs,
			    const struct xattr_sets_xattr *xattr)
{
	return xattrs->items.count < LIMIT_XATTRS && xattr->name_size >= sizeof(user) &&
	       xattr->name_size <= LIMIT_XATTR_NAME_BYTES &&
	       xattr->value_size <= LIMIT_XATTR_VALUE_BYTES &&
	       xattr->value_size <= LIMIT_XATTR_TOTAL_BYTES - xattrs->total;
}

static int xattr_sets_store(struct squashfs_xattrs *xattrs,
			    struct xattr_sets_xattr *xattr)
{
	void *value = arena_alloc(&xattrs->arena, (size_t)xattr->value_size + 1);
	const char *name = arena_copy(&xattrs->arena, xattr->name, xattr->name_size);
	struct entry_xattr item = { name, value, xattr->value_size };
	int err;

	if (!value || !name || vec_push(&xattrs->items, item) < 0)
		return squashfs_out_of_memory(xattrs->image);
	err = squashfs_read(xattrs->image, &xattr->value, value, xattr->value_size);
	xattrs->total += xattr->value_size;
	return err;
}

static int xattr_sets_read_one(struct squashfs_xattrs *xattrs,
			       struct squashfs_cursor *cursor)
{
	struct xattr_sets_xattr xattr;
	int err = xattr_sets_read_name(xattrs->image, cursor, &xattr);

	if (!err)
		err = find_value(xattrs->image, cursor, &xattr);
	if (err || (xattr.type & PREFIX_MASK) != PREFIX_USER)
		return err;
	if (xattr_sets_fits(xattrs, &xattr))
		return xattr_sets_store(xattrs, &xattr);
	xattrs->left_out = true;
	return 0;
}

static void xattr_sets_clear(struct squashfs_xattrs *xattrs)
{
	arena_free(&xattrs->arena);
	xattrs->arena = (struct arena){ 0 };
	xattrs->items.count = 0;
	xattrs->total = 0;
	xattrs->left_out = false;
	xattrs->any = false;
}

int squashfs_read_xattrs(struct squashfs_xattrs *xattrs, uint32_t number)
{
	struct squashfs_cursor cursor;
	uint32_t count;
	int err;

	if (xattrs->any && xattrs->number == number)
		return 0; /* files of one directory often have the same */
	xattr_sets_clear(xattrs);
	if (number == SQUASHFS_NONE)
		return 0;
	err = squashfs_xattrs(xattrs->image, number, &cursor, &count);
	while (!err && count-- > 0)
		err = xattr_sets_read_one(xattrs, &cursor);
	xattrs->number = number;
	xattrs->any = !err;
	return err;
}

void squashfs_xattrs_free(struct squashfs_xattrs *xattrs)
{
	xattr_sets_clear(xattrs);
	vec_free(&xattrs->items);
}
