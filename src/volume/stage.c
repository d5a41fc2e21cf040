/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "volume/stage.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "base/invariant.h"
#include "cache/key.h"
#include "stats/stats.h"
#include "volume/stream.h"

enum {
	PATIENCE_MS = 500,
	NUMBER_BITS = 40, /* of an aligned block in its source; a source's are above */
};

/* Bytes of a source that aligned blocks reach; those behind are read without blocks. */
#define ALIGNED_BYTES ((UINT64_C(1) << NUMBER_BITS) * VOLUME_BLOCK)

/* A block, and its key in the cache. */
struct stage_block {
	uint64_t key;
	struct volume_span span;
};

static struct stage_block block_in_table(const struct volume_table *table,
					 uint32_t number)
{
	return (struct stage_block){cache_key(CACHE_BLOCK, number),
				    table->blocks[number]};
}

static struct stage_block block_aligned(const struct volume_table *table, uint32_t source,
					uint64_t number)
{
	uint64_t start = number * VOLUME_BLOCK;
	uint64_t size = source_size(table->sources->sources[source]);
	uint64_t end = size - start < VOLUME_BLOCK ? size : start + VOLUME_BLOCK;

	number |= (uint64_t)source << NUMBER_BITS;
	return (struct stage_block){cache_key(CACHE_ALIGNED_BLOCK, number),
				    {source, start, end}};
}

void volume_use_blocks(struct volume_table *table, const struct volume_span *blocks,
		       uint32_t count)
{
	HANDLE_CHECK(table, HANDLE_VOLUMES);
	table->blocks = blocks;
	atomic_store_explicit(&table->block_count, count, memory_order_release);
}

bool volume_find_block(const struct volume_table *table, uint32_t source, uint64_t offset,
		       uint32_t *out)
{
	HANDLE_CHECK(table, HANDLE_VOLUMES);
	/* read once: the table may be set meanwhile */
	uint32_t count = atomic_load_explicit(&table->block_count, memory_order_acquire);
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct volume_span *b = &table->blocks[middle];

		if (b->source < source || (b->source == source && b->end <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return low < count && table->blocks[low].source == source &&
	       table->blocks[low].start <= offset && offset < table->blocks[low].end;
}

/* Finds the block that holds a byte. */
static struct stage_block stage_find(const struct volume_table *table, uint32_t source,
				     uint64_t offset, bool *in_table)
{
	struct stage_block block;
	uint32_t number;

	*in_table = volume_find_block(table, source, offset, &number);
	if (*in_table)
		return block_in_table(table, number);
	block = block_aligned(table, source, offset / VOLUME_BLOCK);
	/* up to the next block of the table, which may be in the cache */
	if (number < atomic_load(&table->block_count)) {
		const struct volume_span *next = &table->blocks[number];

		if (next->source == source && next->start > offset &&
		    next->start < block.span.end)
			block.span.end = next->start;
	}
	return block;
}

struct fetch {
	const struct source *source;
	uint64_t offset;
	struct read_context *context;
};

static ssize_t stage_fill_block(void *context, void *buffer, size_t room)
{
	const struct fetch *fetch = context;
	int err = source_read(fetch->source, buffer, room, fetch->offset, fetch->context);

	return err ? err : (ssize_t)room;
}

static int stage(const struct volume_table *table, const struct stage_block *block,
		 unsigned milliseconds, struct read_context *context,
		 struct cache_pin **out)
{
	struct fetch fetch = { table->sources->sources[block->span.source],
			       block->span.start, context };

	return cache_get_within(table->cache, block->key,
				(size_t)(block->span.end - block->span.start), milliseconds,
				stage_fill_block, &fetch, out);
}

/* No reader has asked for the block: a later read finds the place of the error. */
static int stage_ahead(const struct volume_table *table, const struct stage_block *block,
		       struct cache_pin **out)
{
	struct read_context context = { .hint = READ_AHEAD };

	return stage(table, block, CACHE_FOREVER, &context, out);
}

int volume_stage(const struct volume_table *table, uint32_t number, struct cache_pin **out)
{
	struct stage_block block;

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	if (number >= atomic_load(&table->block_count))
		return -EINVAL;
	block = block_in_table(table, number);
	return stage_ahead(table, &block, out);
}

int volume_stage_aligned(const struct volume_table *table, uint32_t source,
			 uint64_t number, struct cache_pin **out)
{
	struct stage_block block;

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	if (source >= table->sources->count || number >= UINT64_C(1) << NUMBER_BITS ||
	    number * VOLUME_BLOCK >= source_size(table->sources->sources[source]))
		return -EINVAL;
	block = block_aligned(table, source, number);
	return stage_ahead(table, &block, out);
}

/*
 * Waits for another thread that reads the block, but not for long: if storage hangs, a
 * read of the requested bytes alone may succeed.
 */
static bool stage_pin(const struct volume_table *table, const struct stage_block *block,
		      bool whole, struct read_context *context, struct cache_pin **pin)
{
	uint64_t begin = stats_clock();
	bool there;

	there = cache_peek(table->cache, block->key, PATIENCE_MS, pin) > 0;
	stats_add_duration(HISTOGRAM_chunk_wait, begin, context->demand);
	if (there || !whole)
		return there;
	return stage(table, block, PATIENCE_MS, context, pin) == 0;
}

/* Copies from the block that holds `offset`: the number of bytes; 0: not in the cache. */
static size_t copy_from_block(const struct volume *volume, void *buffer, size_t length,
			      uint64_t offset, struct read_context *context)
{
	const struct volume_table *table = volume->table;
	struct cache_pin *pin = NULL;
	bool in_table;
	struct stage_block block =
		stage_find(table, volume->desc.source, offset, &in_table);
	size_t n = (size_t)(block.span.end - offset);

	if (!stage_pin(table, &block, in_table && context->hint == READ_BLOCK, context,
		       &pin))
		return 0;
	if (n > length)
		n = length;
	memcpy(buffer, (const char *)cache_data(pin) + (offset - block.span.start), n);
	cache_put_read(table->cache, pin, context->hint == READ_AHEAD ? 0 : n, false);
	return n;
}

/* The number of bytes from `offset` on that no cached block holds. */
static size_t absent(const struct volume *volume, size_t length, uint64_t offset)
{
	bool in_table;
	struct stage_block block =
		stage_find(volume->table, volume->desc.source, offset, &in_table);
	size_t n = (size_t)(block.span.end - offset);

	while (n < length) {
		block = stage_find(volume->table, volume->desc.source, offset + n,
				   &in_table);
		if (cache_has(volume->table->cache, block.key))
			break;
		n = (size_t)(block.span.end - offset);
	}
	return n < length ? n : length;
}

int stage_pread(const struct volume *volume, void *buffer, size_t length, uint64_t offset,
		struct read_context *context)
{
	size_t done = 0;
	int err = 0;

	if (volume->stream)
		return stream_pread(volume->stream, buffer, length, offset, context);
	if (!volume->table->staging || context->hint == READ_DIRECT ||
	    !range_within(offset, length, ALIGNED_BYTES))
		return source_read(volume->source, buffer, length, offset, context);
	if (!range_within(offset, length, source_size(volume->source)))
		return -EIO;
	while (!err && done < length) {
		char *to = (char *)buffer + done;
		size_t n = copy_from_block(volume, to, length - done, offset + done,
					   context);

		if (n == 0) {
			n = absent(volume, length - done, offset + done);
			err = source_read(volume->source, to, n, offset + done, context);
		}
		done += n;
	}
	return err;
}
