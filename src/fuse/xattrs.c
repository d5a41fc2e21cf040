/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/xattrs.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "os/front_kind.h"

static bool xattrs_is_shown(const char *name)
{
	static const char user[] = "user.";

	return strncmp(name, user, strlen(user)) == 0 && !front_hides_xattr(name);
}

int xattrs_get(const struct tree *tree, uint32_t node, const char *name, void *value,
	       size_t size)
{
	return xattrs_is_shown(name) ? tree_getxattr(tree, node, name, value, size)
				     : -ENODATA;
}

/* Keeps the names that are shown: returns their bytes. */
static size_t filter_shown(char *list, size_t size)
{
	size_t kept = 0;

	for (size_t at = 0, n; at < size; at += n) {
		n = strnlen(list + at, size - at - 1) + 1;
		if (!xattrs_is_shown(list + at))
			continue;
		memmove(list + kept, list + at, n);
		kept += n;
	}
	return kept;
}

int xattrs_list(const struct tree *tree, uint32_t node, char *list, size_t size)
{
	int n = tree_listxattr(tree, node, NULL, 0);
	CLEANUP(cleanup_free) char *all = n > 0 ? malloc((size_t)n) : NULL;
	size_t shown;

	if (n > 0)
		n = all ? tree_listxattr(tree, node, all, (size_t)n) : -ENOMEM;
	if (n <= 0)
		return n;
	all[n - 1] = '\0';
	shown = filter_shown(all, (size_t)n);
	if (size && shown > size)
		return -ERANGE;
	if (size)
		memcpy(list, all, shown);
	return (int)shown;
}
