/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/distribute.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

static int larger_first(const void *a, const void *b, void *context)
{
	const uint64_t *sizes = context;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	if (sizes[one] != sizes[other])
		return sizes[one] > sizes[other] ? -1 : 1;
	return one < other ? -1 : one > other;
}

static int emptier_first(const void *a, const void *b, void *context)
{
	const uint64_t *bytes = context;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	if (bytes[one] != bytes[other])
		return bytes[one] < bytes[other] ? -1 : 1;
	return one < other ? -1 : one > other;
}

static uint32_t *numbers(size_t count)
{
	uint32_t *out = malloc((count ? count : 1) * sizeof(*out));

	for (size_t i = 0; out && i < count; i++)
		out[i] = (uint32_t)i;
	return out;
}

int distribute_over_shards(uint64_t *sizes, size_t count, uint32_t shards,
			   uint32_t *shard_of, uint64_t *bytes)
{
	CLEANUP(cleanup_free) uint32_t *by_size = numbers(count);
	CLEANUP(cleanup_free) uint32_t *by_room = numbers(shards);

	if (!by_size || !by_room)
		return -ENOMEM;
	qsort_r(by_size, count, sizeof(*by_size), larger_first, sizes);
	for (size_t i = 0; i < count; i++) {
		uint32_t shard;

		if (i % shards == 0)
			qsort_r(by_room, shards, sizeof(*by_room), emptier_first, bytes);
		shard = by_room[i % shards];
		shard_of[by_size[i]] = shard;
		bytes[shard] += sizes[by_size[i]];
	}
	return 0;
}
