/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regroup/regroup_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/filename.h"
#include "index/checksum.h"
#include "names/image_suffixes.h"

static int regroup_names_by_path(const void *left, const void *right)
{
	const struct regroup_name *a = left, *b = right;

	if (a->is != b->is)
		return a->is < b->is ? -1 : 1;
	return (a->was > b->was) - (a->was < b->was);
}

int regroup_names_add(struct regroup_names *names, const char *is, uint64_t was)
{
	const struct regroup_name name = { sum_of(is, strlen(is)), was };

	return vec_push(&names->items, name);
}

bool regroup_names_clash(struct regroup_names *names, uint64_t *out)
{
	const struct regroup_name *items = names->items.items;
	size_t n = names->items.count;

	if (n)
		qsort(names->items.items, n, sizeof(*items), regroup_names_by_path);
	for (size_t i = 1; i < n; i++) {
		*out = items[i].is;
		if (items[i - 1].is == items[i].is && items[i - 1].was != items[i].was)
			return true;
	}
	return false;
}

static const char *regroup_names_suffix_of(const char *path)
{
	const char *name = filename_of(path), *dot = strrchr(name, '.');

	return dot && dot > name ? dot : "";
}

bool regroup_same_kind(const char *a, const char *b)
{
	bool image = name_has_image_suffix(a, SUFFIX_LOADED);

	return image == name_has_image_suffix(b, SUFFIX_LOADED) &&
	       (image ||
		strcasecmp(regroup_names_suffix_of(a), regroup_names_suffix_of(b)) == 0);
}
