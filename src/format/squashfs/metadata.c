/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/squashfs/metadata.h"

#include <squashfuse/squashfuse.h>

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/squashfs/metadata_copy.h"
#include "format/squashfs/superblock.h"

enum {
	META_STORED_MOST = SQUASHFS_METADATA_SIZE + 2, /* with its header */
	AGAIN_MOST = 256,            /* each byte of metadata, on the average */
	TRIES = 3,
	AGAIN_FREE = 16 * 1024 * 1024, /* bytes: small images may exceed that */
};

struct squashfs_library {
	sqfs fs;
	sqfs_block *held; /* the last block that it gave */
};

/* Messages */

int squashfs_damaged(const struct squashfs_image *image, const char *what)
{
	const char *path = image->path && *image->path ? image->path : "/";

	return error_set(image->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: %s of '%.200s' is not right; copy it again, or "
			 "make the image again",
			 image->scan->label, what, path);
}

int squashfs_refuse_bomb(const struct squashfs_image *image, const char *what)
{
	const char *path = image->path && *image->path ? image->path : "/";

	return error_set(image->e, ERROR_DATASET, EBADMSG,
			 "'%s' is refused at '%.200s': the %s in it take too much memory "
			 "for an image of %llu bytes; copy it again, or make several "
			 "images",
			 image->scan->label, path, what,
			 (unsigned long long)image->used);
}

int squashfs_out_of_memory(const struct squashfs_image *image)
{
	return format_no_memory(image->scan->label, image->e);
}

int squashfs_unreadable(const struct squashfs_image *image, uint64_t position, int err)
{
	errno = -err;
	return error_set(image->e, ERROR_SYSTEM, -err,
			 "cannot read '%s' near byte %llu: %m; check the storage, or copy "
			 "the file again",
			 image->scan->label,
			 (unsigned long long)(image->scan->base + position));
}

/*
 * The library does not say why it failed, and does not try again where storage failed
 * for a moment; our own reading does. 0: the bytes are there.
 */
static int reread(const struct squashfs_image *image, uint64_t position)
{
	unsigned char bytes[META_STORED_MOST];
	uint64_t left = image->used - position;
	size_t n = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
	int err = source_pread(image->scan->source, bytes, n,
			       image->scan->base + position);

	return err ? squashfs_unreadable(image, position, err) : 0;
}

/* Blocks of metadata */

/* A block that is used for the first time makes room for more reading. */
static int note_block(struct squashfs_image *image, uint64_t position, size_t size)
{
	if (position == image->last_seen)
		return 0;
	image->last_seen = position;
	if (squashfs_refs_find(&image->seen, position))
		return 0;
	image->seen_bytes += size;
	return squashfs_refs_add(&image->seen, position, 0) < 0 ?
		       squashfs_out_of_memory(image) : 0;
}

/*
 * In newer versions of the library, 0.5 for one, a block counts its users, and each of
 * them has to dispose of it. In older ones it is the cache's alone.
 */
static void metadata_let_go(struct squashfs_library *library)
{
#ifdef SQUASHFUSE_COUNTS_USERS
	if (library->held)
		sqfs_block_dispose(library->held);
#endif
	library->held = NULL;
}

/* The block stays until the next one is read. */
static int read_block(struct squashfs_image *image, sqfs_off_t *at, sqfs_block **block)
{
	uint64_t position = (uint64_t)*at;

	metadata_let_go(image->library);
	for (int i = 0; i < TRIES; i++) {
		int err;

		*at = (sqfs_off_t)position;
		if (sqfs_md_cache(&image->library->fs, at, block) == SQFS_OK) {
			image->library->held = *block;
			return 0;
		}
		err = reread(image, position);
		if (err)
			return err;
	}
	return squashfs_damaged(image, "a block of metadata");
}

/* The library's block at `position`, and where the next one is stored. */
static int metadata_get_block(struct squashfs_image *image, uint64_t position,
			      const sqfs_block **out, uint64_t *next)
{
	sqfs_off_t at = (sqfs_off_t)position;
	sqfs_block *block;
	int err;

	if (position < SQUASHFS_SUPERBLOCK_BYTES || position >= image->used)
		return squashfs_damaged(image, "the place of the metadata");
	err = read_block(image, &at, &block);
	if (err)
		return err;
	if (at < 0 || (uint64_t)at <= position || (uint64_t)at > image->used ||
	    block->size == 0 || block->size > SQUASHFS_METADATA_SIZE)
		return squashfs_damaged(image, "the size of a block of metadata");
	*out = block;
	*next = (uint64_t)at;
	return note_block(image, position, block->size);
}

static int count_read(struct squashfs_image *image, size_t size)
{
	image->read_bytes += size;
	if (image->read_bytes / AGAIN_MOST <= image->seen_bytes ||
	    image->read_bytes <= AGAIN_FREE)
		return 0;
	return squashfs_damaged(image, "the sharing of metadata");
}

int squashfs_read(struct squashfs_image *image, struct squashfs_cursor *cursor,
		  void *out, size_t size)
{
	unsigned char *to = out;

	while (size > 0) {
		const sqfs_block *block = NULL;
		uint64_t next = 0;
		size_t take;
		int err = metadata_get_block(image, cursor->block, &block, &next);

		if (err)
			return err;
		if (cursor->offset > block->size)
			return squashfs_damaged(image, "an offset in the metadata");
		take = block->size - cursor->offset;
		if (take > size)
			take = size;
		if (to && take) {
			memcpy(to, (const char *)block->data + cursor->offset, take);
			to += take;
		}
		size -= take;
		cursor->offset += take;
		if (cursor->offset == block->size)
			*cursor = (struct squashfs_cursor){ .block = next };
		err = count_read(image, take);
		if (err)
			return err;
	}
	return 0;
}

/* A place in a table whose start is known to lie within the image. */
static struct squashfs_cursor place(uint64_t start, uint64_t reference)
{
	return (struct squashfs_cursor){ .block = start + (reference >> 16),
					 .offset = reference & 0xffff };
}

/* Tables: a list of blocks, in which items lie one behind the other */

static int table_item(struct squashfs_image *image, const sqfs_table *table,
		      uint64_t number, void *out, size_t each)
{
	uint64_t at = number * each;
	struct squashfs_cursor cursor = {
		.block = table->blocks[at / SQUASHFS_METADATA_SIZE],
		.offset = at % SQUASHFS_METADATA_SIZE,
	};

	return squashfs_read(image, &cursor, out, each);
}

static int read_ids(struct squashfs_image *image)
{
	const sqfs *fs = &image->library->fs;
	size_t count = fs->sb.no_ids;

	image->ids = calloc(count, sizeof(*image->ids));
	if (!image->ids)
		return squashfs_out_of_memory(image);
	for (size_t i = 0; i < count; i++) {
		int err = table_item(image, &fs->id_table, i, &image->ids[i],
				     sizeof(*image->ids));

		if (err)
			return err;
		image->ids[i] = le32toh(image->ids[i]);
	}
	return 0;
}

int squashfs_fragment(struct squashfs_image *image, uint32_t number,
		      uint64_t *position, uint32_t *size)
{
	struct squashfs_fragment_entry entry;
	int err;

	if (number >= image->fragments)
		return squashfs_damaged(image, "the number of the fragment");
	err = table_item(image, &image->library->fs.frag_table, number, &entry,
			 sizeof(entry));
	if (err)
		return err;
	*position = le64toh(entry.start_block);
	*size = le32toh(entry.size);
	return 0;
}

int squashfs_xattrs(struct squashfs_image *image, uint32_t number,
		    struct squashfs_cursor *cursor, uint32_t *count)
{
	const sqfs *fs = &image->library->fs;
	struct squashfs_xattr_id set;
	int err;

	*count = 0;
	if (fs->xattr_info.xattr_ids == 0)
		return 0;
	if (number >= fs->xattr_info.xattr_ids)
		return squashfs_damaged(image, "the number of the xattrs");
	err = table_item(image, &fs->xattr_table, number, &set, sizeof(set));
	if (err)
		return err;
	*cursor = squashfs_xattrs_at(image, le64toh(set.xattr));
	*count = le32toh(set.count);
	return 0;
}

struct squashfs_cursor squashfs_xattrs_at(const struct squashfs_image *image,
					  uint64_t reference)
{
	return place(image->library->fs.xattr_info.xattr_table_start, reference);
}

/* Inodes */

static int metadata_read_directory(struct squashfs_image *image,
				   struct squashfs_inode *out)
{
	struct squashfs_dir_inode x;
	int err = squashfs_read(image, &out->next, &x, sizeof(x));

	if (err)
		return err;
	out->size = le16toh(x.file_size);
	out->next = (struct squashfs_cursor){ .block = le32toh(x.start_block),
					      .offset = le16toh(x.offset) };
	return 0;
}

static int read_long_directory(struct squashfs_image *image, struct squashfs_inode *out)
{
	struct squashfs_ldir_inode x;
	int err = squashfs_read(image, &out->next, &x, sizeof(x));

	if (err)
		return err;
	out->size = le32toh(x.file_size);
	out->xattrs = le32toh(x.xattr);
	out->next = (struct squashfs_cursor){ .block = le32toh(x.start_block),
					      .offset = le16toh(x.offset) };
	return 0;
}

static int metadata_read_file(struct squashfs_image *image, struct squashfs_inode *out)
{
	struct squashfs_reg_inode x;
	int err = squashfs_read(image, &out->next, &x, sizeof(x));

	if (err)
		return err;
	out->links = 1;
	out->size = le32toh(x.file_size);
	out->start = le32toh(x.start_block);
	out->fragment = le32toh(x.fragment);
	out->fragment_offset = le32toh(x.offset);
	return 0;
}

static int read_long_file(struct squashfs_image *image, struct squashfs_inode *out)
{
	struct squashfs_lreg_inode x;
	int err = squashfs_read(image, &out->next, &x, sizeof(x));

	if (err)
		return err;
	out->links = le32toh(x.nlink);
	out->size = le64toh(x.file_size);
	out->start = le64toh(x.start_block);
	out->fragment = le32toh(x.fragment);
	out->fragment_offset = le32toh(x.offset);
	out->xattrs = le32toh(x.xattr);
	return 0;
}

static int metadata_read_symlink(struct squashfs_image *image, struct squashfs_inode *out)
{
	struct squashfs_symlink_inode x;
	int err = squashfs_read(image, &out->next, &x, sizeof(x));

	if (err)
		return err;
	out->links = le32toh(x.nlink);
	out->size = le32toh(x.symlink_size);
	return 0;
}

/* Of an inode that is not shown only the type is read. */
static int read_no_more(struct squashfs_image *image, struct squashfs_inode *out)
{
	return 0;
}

static int (*const takers[])(struct squashfs_image *image, struct squashfs_inode *out) = {
	[SQUASHFS_DIR_TYPE] = metadata_read_directory,
	[SQUASHFS_REG_TYPE] = metadata_read_file,
	[SQUASHFS_SYMLINK_TYPE] = metadata_read_symlink,
	[SQUASHFS_BLKDEV_TYPE] = read_no_more,
	[SQUASHFS_CHRDEV_TYPE] = read_no_more,
	[SQUASHFS_FIFO_TYPE] = read_no_more,
	[SQUASHFS_SOCKET_TYPE] = read_no_more,
	[SQUASHFS_LDIR_TYPE] = read_long_directory,
	[SQUASHFS_LREG_TYPE] = read_long_file,
	[SQUASHFS_LSYMLINK_TYPE] =
		metadata_read_symlink, /* with xattrs, which links have not */
	[SQUASHFS_LBLKDEV_TYPE] = read_no_more,
	[SQUASHFS_LCHRDEV_TYPE] = read_no_more,
	[SQUASHFS_LFIFO_TYPE] = read_no_more,
	[SQUASHFS_LSOCKET_TYPE] = read_no_more,
};

static int read_base(struct squashfs_image *image, struct squashfs_cursor cursor,
		     struct squashfs_inode *out, unsigned *type)
{
	struct squashfs_base_inode x;
	unsigned uid, gid;
	int err = squashfs_read(image, &cursor, &x, sizeof(x));

	if (err)
		return err;
	*type = le16toh(x.inode_type);
	uid = le16toh(x.uid);
	gid = le16toh(x.guid);
	if (*type < SQUASHFS_DIR_TYPE || *type > SQUASHFS_LSOCKET_TYPE)
		return squashfs_damaged(image, "the type of the inode");
	if (uid >= image->library->fs.sb.no_ids || gid >= image->library->fs.sb.no_ids)
		return squashfs_damaged(image, "the owner");
	out->type = *type < SQUASHFS_LDIR_TYPE ? *type : *type - SQUASHFS_SOCKET_TYPE;
	out->mode = le16toh(x.mode);
	out->mtime = le32toh(x.mtime);
	out->uid = image->ids[uid];
	out->gid = image->ids[gid];
	return 0;
}

int squashfs_inode(struct squashfs_image *image, uint64_t reference,
		   struct squashfs_inode *out)
{
	const struct squashfs_super_block *sb = &image->library->fs.sb;
	unsigned type;
	int err;

	*out = (struct squashfs_inode){ .xattrs = SQUASHFS_NONE,
					.fragment = SQUASHFS_NONE };
	out->next = place(sb->inode_table_start, reference);
	err = read_base(image, out->next, out, &type);
	if (!err) /* which begins with the same fields */
		err = takers[type](image, out);
	if (!err && out->type == SQUASHFS_DIRECTORY)
		out->next.block += sb->directory_table_start;
	return err;
}

/* Set-up */

/* The table of xattrs has a header of its own, which the library has read. */
static int metadata_check_xattrs(const struct squashfs_image *image)
{
	const sqfs *fs = &image->library->fs;
	uint64_t start = fs->sb.xattr_id_table_start;

	if (fs->xattr_info.xattr_ids == 0)
		return 0;
	if (!squashfs_table_fits(image, start + sizeof(fs->xattr_info), fs->xattr_info.xattr_ids,
			sizeof(struct squashfs_xattr_id)) ||
	    fs->xattr_info.xattr_table_start >= image->used)
		return squashfs_damaged(image, "the table of the xattrs");
	return 0;
}

/* Where the library does not take the image it has let go of all but the xattrs. */
static int init_library(struct squashfs_image *image, int descriptor, uint64_t base)
{
	uint64_t tail = image->used < META_STORED_MOST ? image->used : META_STORED_MOST;
	sqfs *fs = &image->library->fs;

	for (int i = 0; i < TRIES; i++) {
		sqfs_err err = sqfs_init(fs, descriptor, base);
		int again;

		if (err == SQFS_OK)
			return 0;
		sqfs_table_destroy(&fs->xattr_table);
		memset(fs, 0, sizeof(*fs));
		if (err == SQFS_BADCOMP)
			return error_set(image->e, ERROR_SYSTEM, ENOTSUP,
					 "cannot index '%s': libsquashfuse on this machine was "
					 "built without %s; install one that was built with it",
					 image->scan->label, image->compression);
		again = reread(image, image->used - tail); /* tables are at the end */
		if (again)
			return again;
	}
	return squashfs_damaged(image, "a table");
}

/* Leaves in *base where the image begins in the descriptor's file. */
static int find_descriptor(struct squashfs_image *image, uint64_t *base)
{
	const struct scan *scan = image->scan;

	*base = 0;
	if (scan->source_number & VOLUME_ON_STREAM)
		return image->copy = squashfs_copy_metadata(image);
	*base = scan->base;
	return source_hand_over(scan->source, image->e);
}

static int open_library(struct squashfs_image *image)
{
	uint64_t base;
	int descriptor = find_descriptor(image, &base), err;

	if (descriptor < 0)
		return descriptor;
	image->library = calloc(1, sizeof(*image->library));
	if (!image->library)
		return squashfs_out_of_memory(image);
	err = init_library(image, descriptor, base);
	if (err) {
		free(image->library);
		image->library = NULL;
		return err;
	}
	image->fragments = image->library->fs.sb.fragments;
	image->root = sqfs_inode_root(&image->library->fs);
	return 0;
}

int squashfs_open(struct squashfs_image *image, const struct scan *scan,
		  struct error *e)
{
	int err;

	*image = (struct squashfs_image){ .scan = scan, .e = e, .copy = -1 };
	err = squashfs_check_superblock(image);
	if (!err)
		err = open_library(image);
	if (!err)
		err = metadata_check_xattrs(image);
	if (!err)
		err = read_ids(image);
	if (err)
		squashfs_close(image);
	return err;
}

void squashfs_close(struct squashfs_image *image)
{
	if (image->library) {
		metadata_let_go(image->library);
		sqfs_destroy(&image->library->fs);
		sqfs_table_destroy(&image->library->fs.xattr_table);
		free(image->library);
	}
	if (image->copy >= 0)
		close(image->copy);
	squashfs_refs_free(&image->seen);
	free(image->ids);
	*image = (struct squashfs_image){ .copy = -1 };
}
