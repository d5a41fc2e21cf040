/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_xattrs.c: pack_scan_xattrs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "packer/scan.h"

/* Linux's limits of a list and a value. */
enum { LIST_MOST = 65536, VALUE_MOST = 65536, FIRST_TRY = 512 };

static int source_xattrs_by_name(const void *a, const void *b)
{
	const struct pack_xattr *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static bool is_users(const char *name)
{
	return strncmp(name, "user.", 5) == 0;
}

/* Reads one attribute: 0, or a negative errno; -ENODATA: it was removed meanwhile. */
static int source_xattrs_read_value(int fd, const char *name, struct arena *arena,
				    char *buffer, struct pack_xattr *out)
{
	ssize_t size = fgetxattr(fd, name, buffer, VALUE_MOST);

	if (size < 0)
		return -errno;
	out->size = (size_t)size;
	out->value = arena_copy(arena, buffer, (size_t)size);
	out->name = arena_copy(arena, name, strlen(name));
	return out->value && out->name ? 0 : -ENOMEM;
}

static int read_values(int fd, const char *list, size_t length, struct arena *arena,
		       struct pack_xattr *items, uint32_t *count)
{
	CLEANUP(cleanup_free) char *buffer = malloc(VALUE_MOST);
	int err = buffer ? 0 : -ENOMEM;

	*count = 0;
	for (const char *name = list; name < list + length && !err;
	     name += strlen(name) + 1) {
		if (!is_users(name))
			continue;
		err = source_xattrs_read_value(fd, name, arena, buffer, &items[*count]);
		if (!err)
			++*count;
		else if (err == -ENODATA)
			err = 0;
	}
	return err;
}

static size_t count_users(const char *list, size_t length)
{
	size_t n = 0;

	for (const char *name = list; name < list + length; name += strlen(name) + 1)
		n += is_users(name);
	return n;
}

/* Lists the names, each ended by a NUL. Most files have none or few. */
static ssize_t source_xattrs_read_list(int fd, char *few, char **many)
{
	ssize_t length = flistxattr(fd, few, FIRST_TRY);

	if (length >= 0 || errno != ERANGE)
		return length;
	*many = malloc(LIST_MOST);
	if (!*many)
		return -1;
	return flistxattr(fd, *many, LIST_MOST);
}

int pack_scan_xattrs(int fd, struct arena *arena, const struct pack_xattr **out,
		     uint32_t *count)
{
	CLEANUP(cleanup_free) char *many = NULL;
	char few[FIRST_TRY];
	ssize_t length = source_xattrs_read_list(fd, few, &many);
	const char *list = many ? many : few;
	struct pack_xattr *items;
	size_t most;
	int err;

	*out = NULL;
	*count = 0;
	if (length < 0)
		return errno == ENOTSUP || errno == ENOSYS ? 0 : -errno;
	most = count_users(list, (size_t)length);
	if (!most)
		return 0;
	items = arena_alloc(arena, most * sizeof(*items));
	if (!items)
		return -ENOMEM;
	err = read_values(fd, list, (size_t)length, arena, items, count);
	if (err)
		return err;
	qsort(items, *count, sizeof(*items), source_xattrs_by_name);
	*out = items;
	return 0;
}
