/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/squashfs/contents.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <endian.h>

#include "base/checked.h"
#include "format/limits.h"

#define PLAIN_BIT (UINT32_C(1) << 24) /* in a block's size: it is not compressed */

enum {
	SIZES_AT_ONCE = 2048,      /* of a list of blocks */
	SHARED_FREE = 1024 * 1024, /* bytes of lists, beyond those that were seen */
	BLOCKS_FREE = 256 * 1024 * 1024, /* bytes of chunks and extents */
};

/* One stored block, and what it stands for. */
struct contents_block {
	uint64_t position;    /* bytes from the image's start */
	uint64_t file_offset;
	uint32_t stored;      /* bytes; 0: a hole */
	uint32_t plain;       /* bytes when decoded */
	bool compressed;
};

/* The sizes of a file's blocks, which lie behind its inode. */
struct contents_list {
	struct squashfs_cursor cursor;
	uint64_t left; /* sizes that were not taken */
	size_t at, ready;
	uint32_t sizes[SIZES_AT_ONCE];
};

static int contents_explain(const struct squashfs_contents *contents, int err)
{
	if (err == -ENOMEM)
		return squashfs_out_of_memory(contents->image);
	return err ? squashfs_damaged(contents->image, "the place of a block") : 0;
}

/* Files may share stored blocks, but each has chunks and extents of its own. */
static int contents_count_blocks(struct squashfs_contents *contents, size_t bytes)
{
	return limit_sum(&contents->block_bytes, bytes, contents->image->used,
			 BLOCKS_FREE) ? 0 :
			 squashfs_refuse_bomb(contents->image, "blocks");
}

/* Extents that go on where the last one ends become part of it. */
static int add_extent(struct squashfs_contents *contents, struct entry_extent extent)
{
	size_t count = contents->extents.count;
	int err;
	struct entry_extent *last = count ? &contents->extents.items[count - 1] : NULL;

	if (last && last->volume == extent.volume &&
	    last->file_offset + last->length == extent.file_offset &&
	    last->offset + last->length == extent.offset) {
		last->length += extent.length;
		return 0;
	}
	err = contents_count_blocks(contents, sizeof(extent));
	return err ? err
		   : contents_explain(contents, vec_push(&contents->extents, extent));
}

/* Blocks */

static int check_block(const struct squashfs_contents *contents,
		       const struct contents_block *block)
{
	const struct squashfs_image *image = contents->image;

	if (block->stored > image->block_size ||
	    (!block->compressed && block->stored != block->plain))
		return squashfs_damaged(image, "the size of a block");
	if (block->position < SQUASHFS_SUPERBLOCK_BYTES ||
	    !range_within(block->position, block->stored, image->used))
		return squashfs_damaged(image, "the place of a block");
	return 0;
}

static int raw_extent(const struct squashfs_contents *contents, uint64_t position,
		      uint64_t length, struct entry_extent *out)
{
	const struct scan *scan = contents->image->scan;

	return contents_explain(contents,
				entries_raw_extent(scan->entries, scan->source_number,
						   source_size(scan->source),
						   scan->base + position, length, out));
}

static int coded_extent(struct squashfs_contents *contents,
			const struct contents_block *block, struct entry_extent *out)
{
	const struct scan *scan = contents->image->scan;
	const uint32_t codecs[VOLUME_CODECS] = { contents->image->codec };
	const struct entry_chunk chunk = {
		.source = scan->source_number,
		.source_size = source_size(scan->source),
		.codecs = codecs,
		.stored_at = scan->base + block->position,
		.stored_length = block->stored,
		.skipped = block->compressed ? 0 : 1,
		.plain = block->plain,
	};
	int err = contents_count_blocks(contents, sizeof(struct volume_chunk));

	return err ? err
		   : contents_explain(contents,
				      entries_coded_extent(scan->entries, &chunk, out));
}

static int contents_add_block(struct squashfs_contents *contents,
			      const struct contents_block *block, bool raw)
{
	struct entry_extent extent;
	int err;

	if (block->stored == 0)
		return 0;
	err = check_block(contents, block);
	if (!err)
		err = raw ? raw_extent(contents, block->position, block->stored,
				       &extent) :
			    coded_extent(contents, block, &extent);
	if (err)
		return err;
	extent.file_offset = block->file_offset;
	contents->stored += block->stored;
	return add_extent(contents, extent);
}

/* Lists of blocks */

/*
 * A list belongs to one inode, and so the bytes of all lists are metadata that
 * have been seen. Where they are more, lists lie in one another: a bomb.
 */
static int count_list(struct squashfs_contents *contents, size_t bytes)
{
	contents->listed += bytes;
	return contents->listed <= contents->image->seen_bytes + SHARED_FREE ? 0 :
		       squashfs_damaged(contents->image, "the list of blocks, which is "
							 "in another one too,");
}

static void begin_list(const struct squashfs_inode *inode, uint64_t count,
		       struct contents_list *list)
{
	list->cursor = inode->next;
	list->left = count;
	list->at = list->ready = 0;
}

/* The next size, of which there must be one. A list may be longer than memory. */
static int next_size(struct squashfs_contents *contents, struct contents_list *list,
		     uint32_t *size)
{
	int err;

	if (list->at == list->ready) {
		list->ready = list->left < SIZES_AT_ONCE ? (size_t)list->left :
							   SIZES_AT_ONCE;
		list->at = 0;
		err = squashfs_read(contents->image, &list->cursor, list->sizes,
				    list->ready * sizeof(*list->sizes));
		if (err)
			return err;
	}
	list->left--;
	*size = le32toh(list->sizes[list->at++]);
	return 0;
}

/* Is no block of the list compressed? Looks as far as the first one that is. */
static int find_plain(struct squashfs_contents *contents, struct contents_list *list,
		      bool *plain)
{
	*plain = true;
	while (list->left && *plain) {
		uint32_t size;
		int err = next_size(contents, list, &size);

		if (err)
			return err;
		*plain = size == 0 || (size & PLAIN_BIT);
	}
	return 0;
}

/* Leaves false for a size that has bits which mean nothing. */
static bool split_size(uint32_t size, struct contents_block *block)
{
	block->compressed = !(size & PLAIN_BIT);
	block->stored = size & ~PLAIN_BIT;
	return block->stored < PLAIN_BIT;
}

static int add_list(struct squashfs_contents *contents,
		    const struct squashfs_inode *inode, struct contents_list *list,
		    bool raw)
{
	uint32_t full = contents->image->block_size;
	struct contents_block block = { .position = inode->start };

	while (list->left) {
		uint64_t left = inode->size - block.file_offset;
		uint32_t size;
		int err = next_size(contents, list, &size);

		if (err)
			return err;
		block.plain = left < full ? (uint32_t)left : full;
		if (!split_size(size, &block))
			return squashfs_damaged(contents->image, "the size of a block");
		err = count_list(contents, sizeof(size));
		if (!err)
			err = contents_add_block(contents, &block, raw);
		if (err)
			return err;
		block.file_offset += full;
		block.position += block.stored;
	}
	return 0;
}

/* Blocks that are stored as they are need no chunks, but a second look. */
static int contents_add_blocks(struct squashfs_contents *contents,
			       const struct squashfs_inode *inode, uint64_t count)
{
	struct contents_list list;
	bool plain;
	int err;

	begin_list(inode, count, &list);
	err = find_plain(contents, &list, &plain);
	if (err)
		return err;
	begin_list(inode, count, &list);
	return add_list(contents, inode, &list, plain);
}

/* Fragments */

/* A compressed one is a chunk; what is in it may be less than a whole block. */
static int make_fragment(struct squashfs_contents *contents, uint32_t number,
			 struct entry_extent *out)
{
	struct contents_block block = { .plain = contents->image->block_size };
	uint32_t size;
	int err = squashfs_fragment(contents->image, number, &block.position, &size);

	if (err)
		return err;
	if (!split_size(size, &block) || block.stored == 0)
		return squashfs_damaged(contents->image, "the size of the fragment");
	if (!block.compressed)
		block.plain = block.stored;
	err = check_block(contents, &block);
	if (err)
		return err;
	contents->stored += block.stored;
	return block.compressed ? coded_extent(contents, &block, out) :
				  raw_extent(contents, block.position, block.stored,
					     out);
}

static int get_fragment(struct squashfs_contents *contents, uint32_t number,
			struct entry_extent *out)
{
	const uint32_t *known = squashfs_refs_find(&contents->numbers, number);
	int err;

	if (known) {
		*out = contents->fragments.items[*known];
		return 0;
	}
	err = make_fragment(contents, number, out);
	if (err)
		return err;
	if (squashfs_refs_add(&contents->numbers, number,
			      (uint32_t)contents->fragments.count) < 0 ||
	    vec_push(&contents->fragments, *out) < 0)
		return squashfs_out_of_memory(contents->image);
	return 0;
}

static int add_tail(struct squashfs_contents *contents,
		    const struct squashfs_inode *inode, uint64_t tail)
{
	struct entry_extent extent;
	int err = get_fragment(contents, inode->fragment, &extent);

	if (err)
		return err;
	if (!range_within(inode->fragment_offset, tail, extent.length))
		return squashfs_damaged(contents->image, "the place in the fragment");
	extent.offset += inode->fragment_offset;
	extent.length = tail;
	extent.file_offset = inode->size - tail;
	return add_extent(contents, extent);
}

int squashfs_find_contents(struct squashfs_contents *contents,
			   const struct squashfs_inode *inode)
{
	uint32_t full = contents->image->block_size;
	uint64_t count = inode->size / full, tail = inode->size % full;
	int err = 0;

	contents->extents.count = 0;
	contents->stored = 0;
	if (inode->fragment == SQUASHFS_NONE && tail) {
		count++;
		tail = 0;
	}
	if (count)
		err = contents_add_blocks(contents, inode, count);
	if (!err && tail)
		err = add_tail(contents, inode, tail);
	return err;
}

void squashfs_contents_free(struct squashfs_contents *contents)
{
	vec_free(&contents->extents);
	vec_free(&contents->fragments);
	squashfs_refs_free(&contents->numbers);
}
