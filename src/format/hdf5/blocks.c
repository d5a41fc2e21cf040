/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

void hdf5_blocks_open(struct hdf5_blocks *blocks, const struct source *source,
		      uint64_t base, uint64_t length)
{
	memset(blocks, 0, sizeof(*blocks));
	blocks->source = source;
	blocks->base = base;
	blocks->length = length;
}

void hdf5_blocks_close(struct hdf5_blocks *blocks)
{
	for (size_t i = 0; i < HDF5_BLOCKS; i++) {
		free(blocks->block[i].bytes);
		blocks->block[i].bytes = NULL;
	}
}

static int blocks_read_source(struct hdf5_blocks *blocks, void *buffer, size_t n,
			      uint64_t at)
{
	uint64_t offset;
	int err = checked_add(blocks->base, at, &offset) ?
			  source_pread(blocks->source, buffer, n, offset) :
			  -EBADMSG;

	if (err && !blocks->err)
		blocks->err = err;
	return err;
}

static int blocks_fill_block(struct hdf5_blocks *blocks, struct hdf5_block *block,
			     uint64_t number)
{
	uint64_t start = number * HDF5_BLOCK_BYTES, rest = blocks->length - start;
	size_t n = rest < HDF5_BLOCK_BYTES ? (size_t)rest : HDF5_BLOCK_BYTES;
	int err;

	if (!block->bytes)
		block->bytes = malloc(HDF5_BLOCK_BYTES);
	if (!block->bytes)
		return -ENOMEM;
	block->used = 0;
	err = blocks_read_source(blocks, block->bytes, n, start);
	if (!err)
		block->number = number;
	return err;
}

/* The block of that number; the one that was longest unused makes room for it. */
static int blocks_find_block(struct hdf5_blocks *blocks, uint64_t number,
			     const struct hdf5_block **out)
{
	struct hdf5_block *oldest = &blocks->block[0], *found = NULL;

	for (size_t i = 0; i < HDF5_BLOCKS && !found; i++) {
		struct hdf5_block *block = &blocks->block[i];

		if (block->used && block->number == number)
			found = block;
		else if (block->used < oldest->used)
			oldest = block;
	}
	if (!found) {
		int err = blocks_fill_block(blocks, oldest, number);

		if (err)
			return err;
		found = oldest;
	}
	found->used = ++blocks->clock;
	*out = found;
	return 0;
}

int hdf5_blocks_read(struct hdf5_blocks *blocks, void *buffer, size_t n, uint64_t at)
{
	unsigned char *to = buffer;

	if (!range_within(at, n, blocks->length))
		return -EBADMSG;
	if (n >= HDF5_BLOCK_BYTES)
		return blocks_read_source(blocks, buffer, n, at);
	while (n > 0) {
		size_t skip = (size_t)(at % HDF5_BLOCK_BYTES);
		size_t part = HDF5_BLOCK_BYTES - skip < n ? HDF5_BLOCK_BYTES - skip : n;
		const struct hdf5_block *block;
		int err = blocks_find_block(blocks, at / HDF5_BLOCK_BYTES, &block);

		if (err)
			return err;
		memcpy(to, block->bytes + skip, part);
		to += part;
		at += part;
		n -= part;
	}
	return 0;
}
