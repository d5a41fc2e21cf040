/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_blocks.c: the blocks of a file come one after another, the first and last
 * marked. Fragment blocks, shared by small files, come between files. All are appended.
 * After the last block of a file an equal earlier file is looked up. If there is one, its
 * location is returned and the image is truncated. So equal files are stored once.
 */
#include "packer/squashfs_blocks.h"

#include <sqfs/block.h>
#include <sqfs/error.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "os/whole.h"

/* A file whose blocks are stored: [first, first + count) of the blocks. */
struct sqfs_blocks_stored {
	uint64_t at; /* in the image */
	size_t first, count;
};

struct sqfs_blocks_block {
	uint32_t size; /* as stored; with BLOCK_PLAIN if not compressed */
	uint32_t checksum;
};

enum { BLOCK_PLAIN = 1 << 24 };

struct sqfs_blocks {
	sqfs_block_writer_t ops; /* first: libsquashfs has a pointer to it */
	struct squashfs_file *file;
	VEC(struct sqfs_blocks_block) blocks;
	VEC(struct sqfs_blocks_stored) files;
	struct idmap by_contents; /* files */
	struct sqfs_blocks_stored current;
	uint64_t written;
};

static int sqfs_blocks_read_at(sqfs_file_t *ops, sqfs_u64 offset, void *buffer,
			       size_t size)
{
	struct squashfs_file *file = (struct squashfs_file *)ops;
	ssize_t n = file->error ? 0 : read_whole_at(file->fd, buffer, size, offset);

	if (n < (ssize_t)size && !file->error)
		file->error = n < 0 ? (int)n : -EIO;
	if (file->error)
		memset(buffer, 0, size);
	return 0;
}

static int write_at(sqfs_file_t *ops, sqfs_u64 offset, const void *buffer, size_t size)
{
	struct squashfs_file *file = (struct squashfs_file *)ops;

	if (offset + size > file->size)
		file->size = offset + size;
	if (!file->error)
		file->error = write_whole_at(file->fd, buffer, size, offset);
	return 0;
}

static sqfs_u64 get_size(const sqfs_file_t *ops)
{
	return ((const struct squashfs_file *)ops)->size;
}

static int cut(sqfs_file_t *ops, sqfs_u64 size)
{
	struct squashfs_file *file = (struct squashfs_file *)ops;

	if (!file->error && ftruncate(file->fd, (off_t)size) < 0)
		file->error = -errno;
	file->size = size;
	return 0;
}

static void sqfs_blocks_store(sqfs_object_t *object)
{
	(void)object; /* embedded in the writer */
}

void squashfs_file_init(struct squashfs_file *file, int fd)
{
	*file = (struct squashfs_file){
		.ops = {
			.base = { .destroy = sqfs_blocks_store },
			.read_at = sqfs_blocks_read_at,
			.write_at = write_at,
			.get_size = get_size,
			.truncate = cut,
		},
		.fd = fd,
	};
}

static uint32_t sqfs_blocks_hash(const struct sqfs_blocks *blocks,
				 const struct sqfs_blocks_stored *file)
{
	uint64_t h = 0;

	for (size_t i = file->first; i < file->first + file->count; i++)
		h = hash_number(blocks->blocks.items[i].checksum,
				hash_number(blocks->blocks.items[i].size, h));
	return (uint32_t)h;
}

/* Are two ranges of the image equal? */
static bool same_bytes(struct squashfs_file *file, uint64_t one, uint64_t other,
		       uint64_t size)
{
	char a[16384], b[sizeof(a)];
	size_t n;

	for (; size; size -= n, one += n, other += n) {
		n = size < sizeof(a) ? (size_t)size : sizeof(a);
		sqfs_blocks_read_at(&file->ops, one, a, n);
		sqfs_blocks_read_at(&file->ops, other, b, n);
		if (memcmp(a, b, n) != 0)
			return false;
	}
	return true;
}

static bool sqfs_blocks_is_same(const void *context, uint32_t id, const void *sought)
{
	const struct sqfs_blocks *blocks = context;
	const struct sqfs_blocks_stored *file = &blocks->files.items[id], *other = sought;

	return file->count == other->count &&
	       memcmp(&blocks->blocks.items[file->first],
		      &blocks->blocks.items[other->first],
		      file->count * sizeof(struct sqfs_blocks_block)) == 0 &&
	       same_bytes(blocks->file, file->at, other->at,
			  blocks->file->size - other->at);
}

/* Ends a file: returns its location, or that of an equal one. */
static int sqfs_blocks_finish_file(struct sqfs_blocks *blocks, bool shared,
				   sqfs_u64 *location)
{
	const struct sqfs_blocks_stored *file = &blocks->current;
	const uint32_t key = sqfs_blocks_hash(blocks, file);
	const struct idmap_slot *slot;

	*location = file->at;
	if (!shared)
		return 0;
	slot = idmap_find(&blocks->by_contents, key, sqfs_blocks_is_same, blocks, file);
	if (!slot) {
		if (blocks->files.count >= UINT32_MAX - 1 ||
		    vec_push(&blocks->files, *file) < 0 ||
		    idmap_insert(&blocks->by_contents, key,
				 (uint32_t)(blocks->files.count - 1)) < 0)
			return SQFS_ERROR_ALLOC;
		return 0;
	}
	blocks->blocks.count = file->first;
	*location = blocks->files.items[slot->id_plus_1 - 1].at;
	return cut(&blocks->file->ops, file->at);
}

static int sqfs_blocks_append(struct sqfs_blocks *blocks,
			      const struct sqfs_blocks_block *block, const sqfs_u8 *data,
			      uint32_t size)
{
	if (vec_push(&blocks->blocks, *block) < 0)
		return SQFS_ERROR_ALLOC;
	blocks->current.count++;
	blocks->written++;
	return write_at(&blocks->file->ops, blocks->file->size, data, size);
}

static int write_block(sqfs_block_writer_t *ops, void *user, sqfs_u32 size,
		       sqfs_u32 checksum, sqfs_u32 flags, const sqfs_u8 *data,
		       sqfs_u64 *location)
{
	struct sqfs_blocks *blocks = (struct sqfs_blocks *)ops;
	const struct sqfs_blocks_block block = {
		flags & SQFS_BLK_IS_COMPRESSED ? size : size | BLOCK_PLAIN, checksum,
	};
	int rc = 0;

	*location = blocks->file->size;
	if (flags & SQFS_BLK_FRAGMENT_BLOCK) {
		blocks->written++;
		return write_at(&blocks->file->ops, blocks->file->size, data, size);
	}
	if (flags & SQFS_BLK_FIRST_BLOCK)
		blocks->current = (struct sqfs_blocks_stored){
			.at = blocks->file->size, .first = blocks->blocks.count,
		};
	if (size && !(flags & SQFS_BLK_IS_SPARSE))
		rc = sqfs_blocks_append(blocks, &block, data, size);
	if (rc || !(flags & SQFS_BLK_LAST_BLOCK))
		return rc;
	*location = 0; /* for a file that is one hole */
	return blocks->current.count
		       ? sqfs_blocks_finish_file(blocks,
						 !(flags & SQFS_BLK_DONT_DEDUPLICATE),
						 location)
		       : 0;
}

static sqfs_u64 sqfs_blocks_count_blocks(const sqfs_block_writer_t *ops)
{
	return ((const struct sqfs_blocks *)ops)->written;
}

static void sqfs_blocks_destroy(sqfs_object_t *object)
{
	struct sqfs_blocks *blocks = (struct sqfs_blocks *)object;

	vec_free(&blocks->blocks);
	vec_free(&blocks->files);
	idmap_free(&blocks->by_contents);
	free(blocks);
}

sqfs_block_writer_t *squashfs_blocks_create(struct squashfs_file *file)
{
	struct sqfs_blocks *blocks = calloc(1, sizeof(*blocks));

	if (!blocks)
		return NULL;
	blocks->ops.base.destroy = sqfs_blocks_destroy;
	blocks->ops.write_data_block = write_block;
	blocks->ops.get_block_count = sqfs_blocks_count_blocks;
	blocks->file = file;
	return &blocks->ops;
}
