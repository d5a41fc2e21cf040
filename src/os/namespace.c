/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/namespace.h"

#include <stdio.h>

static const char user_map[] = "/proc/self/uid_map";

enum { ALL_IDS = 0xffffffff };

bool namespace_is_private(void)
{
	unsigned long first = 0, outside = 0, count = 0;
	FILE *map = fopen(user_map, "re");
	int fields;

	if (!map)
		return false;
	fields = fscanf(map, "%lu %lu %lu", &first, &outside, &count);
	fclose(map);
	return fields == 3 && (first || outside || count != ALL_IDS);
}

void namespace_ids(const char *map, struct namespace_ids *out)
{
	unsigned long first, outside, count;
	FILE *file = fopen(map, "re");

	out->count = 0;
	if (!file)
		return;
	while (out->count < NAMESPACE_RANGES &&
	       fscanf(file, "%lu %lu %lu", &first, &outside, &count) == 3)
		out->ranges[out->count++] = (struct namespace_range){ (uint32_t)first,
								     (uint32_t)count };
	fclose(file);
}

bool namespace_knows(const struct namespace_ids *ids, uint32_t id)
{
	for (unsigned i = 0; i < ids->count; i++) {
		if (id >= ids->ranges[i].first && id - ids->ranges[i].first < ids->ranges[i].count)
			return true;
	}
	return ids->count == 0;
}
