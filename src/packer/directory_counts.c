/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/directory_counts.h"

#include <string.h>

static struct writer_split *directory_counts_find_split(struct directory_counts *splits,
						     const char *name, size_t length)
{
	for (size_t i = splits->list.count; i-- > 0;) {
		struct writer_split *split = &splits->list.items[i];

		if (strncmp(split->name, name, length) == 0 && !split->name[length])
			return split;
	}
	return NULL;
}

int directory_counts_make(struct directory_counts *splits, const struct plan_item *items,
		       size_t count)
{
	struct writer_split *split;
	size_t i, length;

	memset(splits, 0, sizeof(*splits));
	for (i = 0; i < count; i++) {
		const char *slash = strchr(items[i].path, '/');

		if (items[i].kind != PACK_FILE || !slash)
			continue;
		length = (size_t)(slash - items[i].path);
		split = directory_counts_find_split(splits, items[i].path, length);
		if (split) {
			split->rows++;
			continue;
		}
		const struct writer_split first = {
			arena_copy(&splits->names, items[i].path, length), 1,
		};

		if (!first.name || vec_push(&splits->list, first) < 0)
			return -ENOMEM;
	}
	return 0;
}

void directory_counts_free(struct directory_counts *splits)
{
	vec_free(&splits->list);
	arena_free(&splits->names);
}
