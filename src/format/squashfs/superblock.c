/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/squashfs/superblock.h"

#include <endian.h>
#include <errno.h>

#include "base/checked.h"
#include "codec/codec.h"

enum {
	BLOCK_LEAST = 4096,
	BLOCK_MOST = 1024 * 1024,
	META_BLOCK = 8192, /* decompressed */
	TABLE_POINTER = 8, /* bytes for each block of a table */
	XATTR_HEADER = 16, /* before the pointers of that table */
};

/* As stored, little-endian. */
struct superblock {
	uint32_t magic, inodes, made, block_size, fragments;
	uint16_t compression, block_log, flags, no_ids, major, minor;
	uint64_t root_inode, bytes_used;
	uint64_t id_table_start, xattr_id_table_start;
	uint64_t inode_table_start, directory_table_start;
	uint64_t fragment_table_start, lookup_table_start;
};

_Static_assert(sizeof(struct superblock) == SQUASHFS_SUPERBLOCK_BYTES,
	       "nothing lies between the fields");

/* By the number in the superblock. Without a codec: cannot be read. */
static const struct compression {
	const char *name;
	uint32_t codec;
} compressions[] = {
	[1] = { "gzip", CODEC_STEP(CODEC_ZLIB, 0) },
	[2] = { "lzma", 0 },
	[3] = { "lzo", CODEC_STEP(CODEC_LZO, 0) },
	[4] = { "xz", CODEC_STEP(CODEC_XZ, 0) },
	[5] = { "lz4", CODEC_STEP(CODEC_LZ4, 0) },
	[6] = { "zstd", CODEC_STEP(CODEC_ZSTD, 0) },
};

static int refuse_superblock(const struct squashfs_image *image, const char *what)
{
	return error_set(image->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: the %s in its superblock is not right; copy it "
			 "again, or make the image again",
			 image->scan->label, what);
}

static int refuse_compression(const struct squashfs_image *image, const char *name)
{
	return error_set(image->e, ERROR_DATASET, EBADMSG,
			 "'%s' is a squashfs image with %s compression, which is not "
			 "supported; make it again: unsquashfs -d directory '%s', then "
			 "mksquashfs directory new.squashfs -comp zstd",
			 image->scan->label, name, image->scan->label);
}

static uint64_t table_blocks(uint64_t count, size_t each)
{
	return (count * each + META_BLOCK - 1) / META_BLOCK;
}

bool squashfs_table_fits(const struct squashfs_image *image, uint64_t start,
			 uint64_t count, size_t each)
{
	return start >= SQUASHFS_SUPERBLOCK_BYTES &&
	       range_within(start, table_blocks(count, each) * TABLE_POINTER,
			    image->used);
}

static int check_tables(struct squashfs_image *image,
			const struct superblock *sb)
{
	uint64_t ids = le64toh(sb->id_table_start);
	uint64_t inodes = le64toh(sb->inode_table_start);
	uint64_t directories = le64toh(sb->directory_table_start);
	uint64_t fragments = le64toh(sb->fragment_table_start);
	uint64_t lookup = le64toh(sb->lookup_table_start); /* -1: it is left out */
	uint64_t xattrs = le64toh(sb->xattr_id_table_start);

	if (inodes < SQUASHFS_SUPERBLOCK_BYTES || inodes >= directories)
		return refuse_superblock(image, "place of the inodes");
	image->inodes = inodes;
	if (directories >= image->used)
		return refuse_superblock(image, "place of the directories");
	if (le32toh(sb->fragments) &&
	    !squashfs_table_fits(image, fragments, le32toh(sb->fragments), 16))
		return refuse_superblock(image, "place of the fragments");
	if (le16toh(sb->no_ids) == 0 ||
	    !squashfs_table_fits(image, ids, le16toh(sb->no_ids), 4))
		return refuse_superblock(image, "place of the owners");
	if (lookup != UINT64_MAX &&
	    !squashfs_table_fits(image, lookup, le32toh(sb->inodes), 8))
		return refuse_superblock(image, "place of the export table");
	if (xattrs != UINT64_MAX && (xattrs < SQUASHFS_SUPERBLOCK_BYTES ||
				     !range_within(xattrs, XATTR_HEADER, image->used)))
		return refuse_superblock(image, "place of the xattrs");
	return 0;
}

static int check_block_size(struct squashfs_image *image,
			    const struct superblock *sb)
{
	uint32_t size = le32toh(sb->block_size);

	if (size < BLOCK_LEAST || size > BLOCK_MOST || (size & (size - 1)) != 0 ||
	    le16toh(sb->block_log) != __builtin_ctz(size))
		return refuse_superblock(image, "size of blocks");
	image->block_size = size;
	return 0;
}

static int check_compression(struct squashfs_image *image,
			     const struct superblock *sb)
{
	unsigned number = le16toh(sb->compression);
	const char *needs;

	if (number == 0 || number >= sizeof(compressions) / sizeof(*compressions))
		return refuse_superblock(image, "number of the compression");
	image->compression = compressions[number].name;
	image->codec = compressions[number].codec;
	if (!image->codec)
		return refuse_compression(image, image->compression);
	needs = codec_chain_needs((const uint32_t[CODEC_CHAIN_MOST]){ image->codec });
	return !needs ? 0 :
			error_set(image->e, ERROR_DATASET, EBADMSG,
				  "'%s' is a squashfs image with %s compression: this granaryfs "
				  "was built without %s", image->scan->label,
				  image->compression, needs);
}

static int check_length(struct squashfs_image *image,
			const struct superblock *sb)
{
	const struct scan *scan = image->scan;

	image->used = le64toh(sb->bytes_used);
	if (image->used <= SQUASHFS_SUPERBLOCK_BYTES || image->used > INT64_MAX)
		return refuse_superblock(image, "size of the image");
	if (image->used > scan->length)
		return error_set(image->e, ERROR_DATASET, EBADMSG,
				 "'%s' is truncated: it needs %llu bytes and has %llu; "
				 "copy it again",
				 scan->label, (unsigned long long)image->used,
				 (unsigned long long)scan->length);
	return 0;
}

int squashfs_check_superblock(struct squashfs_image *image)
{
	struct superblock sb;
	int err;

	if (image->scan->length < sizeof(sb))
		return error_set(image->e, ERROR_DATASET, EBADMSG,
				 "'%s' is truncated inside its superblock; copy it again",
				 image->scan->label);
	err = source_pread(image->scan->source, &sb, sizeof(sb), image->scan->base);
	if (err)
		return squashfs_unreadable(image, 0, err);
	err = check_length(image, &sb);
	if (!err)
		err = check_block_size(image, &sb);
	if (!err)
		err = check_compression(image, &sb);
	if (!err)
		err = check_tables(image, &sb);
	return err;
}
