/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_writer.c: squashfs images, through libsquashfs (squashfs-tools-ng).
 *
 * The library compresses blocks in its own threads and returns them in order, so the
 * bytes do not depend on the number of threads. File and block writer are ours
 * (squashfs_blocks.h), and so is the tree (squashfs_tree.h).
 *
 * Blocks are 128 KiB, mksquashfs's default: a typical image of 110 kB is one block, and a
 * partial read of a large file decompresses no more than that. Files from 16 KiB have
 * blocks of their own, also the last one, so a read of one such file is one range of the
 * image. Smaller files share fragment blocks, which compress better.
 *
 * Times before 1970 and after 2106 become the nearest that the format has, in whole
 * seconds. Set-uid, set-gid and sticky bits are kept.
 */
#include "packer/writer.h"

#include <sqfs/block.h>
#include <sqfs/block_processor.h>
#include <sqfs/error.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packer/squashfs_compressor.h"
#include "packer/squashfs_tables.h"

enum {
	BLOCK_SIZE = 128 * 1024,
	FRAGMENT_LIMIT = 16 * 1024, /* smaller files share a block */
	BACKLOG = 10,               /* blocks a thread in libsquashfs's queues */
};

struct writer {
	struct squashfs_output image;
	sqfs_compressor_t *unpacker; /* to compare small files with stored ones */
	sqfs_block_writer_t *blocks;
	sqfs_block_processor_t *processor;
	char *path; /* of the image, for messages */
	uint32_t newest;

	struct squashfs_node *file; /* between begin and end, of a file */
	uint64_t missing;           /* bytes of it not yet written */
};

static const char *const reasons[] = {
	[-SQFS_ERROR_ALLOC] = "out of memory",
	[-SQFS_ERROR_COMPRESSOR] = "the compressor failed",
	[-SQFS_ERROR_UNSUPPORTED] = "libsquashfs was built without this compression",
	[-SQFS_ERROR_OVERFLOW] = "a table is full: squashfs has room for 65,536 owners "
				 "and groups",
};

/* The sentence and errno for libsquashfs's `code`. */
static int sqfs_writer_explain(const struct writer *w, int code, struct error *e)
{
	const size_t number = code < 0 ? (size_t)-(long)code : 0;
	const char *reason = NULL;

	if (w->image.file.error)
		return error_set(e, ERROR_SYSTEM, -w->image.file.error,
				 "%s: cannot be written: %s", w->path,
				 strerror(-w->image.file.error));
	if (number < sizeof(reasons) / sizeof(*reasons))
		reason = reasons[number];
	if (reason)
		return error_set(e, ERROR_SYSTEM,
				 code == SQFS_ERROR_ALLOC ? ENOMEM : ENOTSUP,
				 "%s: cannot be made: %s", w->path, reason);
	return error_set(e, ERROR_SYSTEM, EIO, "%s: cannot be made: libsquashfs says %d",
			 w->path, code);
}

/* 0 if neither libsquashfs nor the disk has failed; else -errno and a sentence. */
static int check_result(const struct writer *w, int code, struct error *e)
{
	return code || w->image.file.error ? sqfs_writer_explain(w, code, e) : 0;
}

static int choose_compressor(struct writer *w, const struct writer_config *config,
			     const struct squashfs_compressor **out, struct error *e)
{
	const char *name = config->compressor ? config->compressor : "zstd";
	const struct squashfs_compressor *compressor = squashfs_compressor_find(name);
	int level, rc;

	if (!compressor)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "%s: squashfs has none, lz4, zstd, gzip and xz", name);
	level = config->level < 0 ? compressor->usual : config->level;
	rc = squashfs_compressor_check(compressor, level, e);
	if (rc < 0)
		return rc;
	rc = squashfs_compressor_create(compressor, level, BLOCK_SIZE, false,
					&w->image.compressor);
	if (!rc)
		rc = squashfs_compressor_create(compressor, level, BLOCK_SIZE, true,
						&w->unpacker);
	*out = compressor;
	return check_result(w, rc, e);
}

static uint32_t sqfs_writer_seconds(int64_t mtime)
{
	return mtime < 0 ? 0 : mtime > UINT32_MAX ? UINT32_MAX : (uint32_t)mtime;
}

/* Reserves the superblock and writes the compressor's options behind it. */
static int write_head(struct writer *w, const struct squashfs_compressor *compressor)
{
	struct squashfs_output *image = &w->image;
	int rc = sqfs_super_init(&image->super, BLOCK_SIZE, w->newest, compressor->id);

	if (!rc)
		rc = sqfs_super_write(&image->super, &image->file.ops);
	if (!rc)
		rc = image->compressor->write_options(image->compressor, &image->file.ops);
	if (rc > 0)
		image->super.flags |= SQFS_FLAG_COMPRESSOR_OPTIONS;
	if (squashfs_compressor_is_none(compressor))
		image->super.flags |= SQFS_FLAG_UNCOMPRESSED_INODES |
				      SQFS_FLAG_UNCOMPRESSED_DATA |
				      SQFS_FLAG_UNCOMPRESSED_FRAGMENTS |
				      SQFS_FLAG_UNCOMPRESSED_XATTRS |
				      SQFS_FLAG_UNCOMPRESSED_IDS;
	return rc < 0 ? rc : 0;
}

static int create_tables(struct squashfs_output *image)
{
	image->fragments = sqfs_frag_table_create(0);
	image->ids = sqfs_id_table_create(0);
	image->xattrs = sqfs_xattr_writer_create(0);
	return image->fragments && image->ids && image->xattrs ? 0 : SQFS_ERROR_ALLOC;
}

static int create_processor(struct writer *w, unsigned threads)
{
	const sqfs_block_processor_desc_t processor = {
		.size = sizeof(processor),
		.max_block_size = BLOCK_SIZE,
		.num_workers = threads,
		.max_backlog = BACKLOG * threads,
		.cmp = w->image.compressor,
		.wr = w->blocks,
		.tbl = w->image.fragments,
		.file = &w->image.file.ops,
		.uncmp = w->unpacker,
	};

	return sqfs_block_processor_create_ex(&processor, &w->processor);
}

static int open_image(struct writer *w, const struct writer_config *config,
		      struct error *e)
{
	const struct squashfs_compressor *compressor = NULL;
	int rc = choose_compressor(w, config, &compressor, e);

	if (rc < 0)
		return rc;
	if (squashfs_tree_init(&w->image.tree) < 0)
		return sqfs_writer_explain(w, SQFS_ERROR_ALLOC, e);
	w->blocks = squashfs_blocks_create(&w->image.file);
	rc = w->blocks ? create_tables(&w->image) : SQFS_ERROR_ALLOC;
	if (!rc)
		rc = write_head(w, compressor);
	if (!rc)
		rc = create_processor(w, config->threads ? config->threads : 1);
	return check_result(w, rc, e);
}

static void sqfs_writer_free(struct writer *w)
{
	sqfs_destroy(w->processor); /* first: its threads use the others */
	sqfs_destroy(w->blocks);
	sqfs_destroy(w->image.xattrs);
	sqfs_destroy(w->image.ids);
	sqfs_destroy(w->image.fragments);
	sqfs_destroy(w->image.compressor);
	sqfs_destroy(w->unpacker);
	for (size_t i = 0; i < w->image.tree.files.count; i++)
		sqfs_free(w->image.tree.files.items[i]->inode);
	squashfs_tree_free(&w->image.tree);
	free(w->path);
	free(w);
}

static int sqfs_writer_open(struct writer **out, int fd, const char *path,
			    const struct writer_config *config, struct error *e)
{
	struct writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w || !(w->path = strdup(path))) {
		free(w);
		return error_no_memory(e, path);
	}
	squashfs_file_init(&w->image.file, fd);
	w->newest = sqfs_writer_seconds(config->newest);
	rc = open_image(w, config, e);
	if (rc < 0)
		sqfs_writer_free(w);
	else
		*out = w;
	return rc;
}

static int store_xattrs(struct writer *w, const struct pack_entry *entry, uint32_t *out,
			struct error *e)
{
	int rc;

	*out = UINT32_MAX; /* none */
	if (!entry->xattr_count)
		return 0;
	rc = sqfs_xattr_writer_begin(w->image.xattrs, 0);
	for (size_t i = 0; i < entry->xattr_count && !rc; i++) {
		const struct pack_xattr *xattr = &entry->xattrs[i];

		rc = sqfs_xattr_writer_add(w->image.xattrs, xattr->name, xattr->value,
					   xattr->size);
		if (rc == SQFS_ERROR_UNSUPPORTED)
			return error_set(e, ERROR_SYSTEM, ENOTSUP,
					 "%s: squashfs has no room for its attribute %s, "
					 "only for those of user, trusted and security",
					 entry->path, xattr->name);
	}
	if (!rc)
		rc = sqfs_xattr_writer_end(w->image.xattrs, out);
	return check_result(w, rc, e);
}

static int sqfs_writer_set_attributes(struct writer *w, struct squashfs_node *node,
				      const struct pack_entry *entry, struct error *e)
{
	int rc = sqfs_id_table_id_to_index(w->image.ids, entry->uid, &node->owner);

	if (!rc)
		rc = sqfs_id_table_id_to_index(w->image.ids, entry->gid, &node->group);
	if (rc)
		return sqfs_writer_explain(w, rc, e);
	node->mode = entry->mode & 07777;
	node->mtime = sqfs_writer_seconds(entry->mtime);
	return store_xattrs(w, entry, &node->xattrs, e);
}

/* Implied directories get the owner of the entry, and mode 0755. */
static void set_implied(struct writer *w, const struct squashfs_node *node)
{
	struct squashfs_node *directory = node->parent;

	for (; !directory->given && !directory->mode; directory = directory->parent) {
		directory->mode = 0755;
		directory->owner = node->owner;
		directory->group = node->group;
		directory->mtime = w->newest;
	}
}

static int sqfs_writer_begin(struct writer *w, const struct pack_entry *entry,
			     struct error *e)
{
	struct squashfs_node *node;
	int rc = squashfs_tree_add(&w->image.tree, entry, &node, e);

	if (!rc && entry->kind != PACK_HARDLINK)
		rc = sqfs_writer_set_attributes(w, node, entry, e);
	if (rc < 0)
		return rc;
	set_implied(w, node);
	if (entry->kind != PACK_FILE)
		return 0;
	w->file = node;
	w->missing = entry->size;
	rc = sqfs_block_processor_begin_file(w->processor, &node->inode, NULL,
					     entry->size < FRAGMENT_LIMIT ?
						     0 : SQFS_BLK_DONT_FRAGMENT);
	return check_result(w, rc, e);
}

static int sqfs_writer_data(struct writer *w, const void *bytes, size_t length,
			    struct error *e)
{
	int rc;

	if (!w->file || length > w->missing)
		return error_set(e, ERROR_SYSTEM, EINVAL,
				 "%s: more bytes than its entry said", w->path);
	if (!length)
		return 0; /* libsquashfs 1.2 crashes */
	w->missing -= length;
	rc = sqfs_block_processor_append(w->processor, bytes, length);
	return check_result(w, rc, e);
}

static int sqfs_writer_end(struct writer *w, struct error *e)
{
	int rc;

	if (!w->file)
		return 0;
	if (w->missing)
		return error_set(e, ERROR_SYSTEM, EINVAL,
				 "%s: fewer bytes than its entry said", w->path);
	w->file = NULL;
	rc = sqfs_block_processor_end_file(w->processor);
	return check_result(w, rc, e);
}

static int finish_image(struct writer *w, struct error *e)
{
	struct squashfs_node *root = w->image.tree.root;
	int rc = check_result(w, sqfs_block_processor_finish(w->processor), e);

	if (!rc)
		rc = squashfs_tree_seal(&w->image.tree, e);
	if (rc < 0)
		return rc;
	if (!root->given && !root->mode) /* an empty root: owned by root */
		rc = sqfs_writer_set_attributes(w, root,
						&(struct pack_entry){.mode = 0755}, e);
	if (rc < 0)
		return rc;
	rc = squashfs_tables_write(&w->image);
	return check_result(w, rc, e);
}

/* libsquashfs leaks the blocks that its threads still have; so wait for them. */
static void drain(struct writer *w)
{
	if (!w->image.file.error)
		w->image.file.error = -ECANCELED; /* so that nothing more is written */
	sqfs_block_processor_finish(w->processor);
}

static int sqfs_writer_close(struct writer *w, bool complete, struct error *e)
{
	int rc = complete ? finish_image(w, e) : 0;

	if (!complete || rc)
		drain(w);
	sqfs_writer_free(w);
	return rc;
}

const struct writer_ops squashfs_writer = {
	.name = "squashfs",
	.open = sqfs_writer_open,
	.begin = sqfs_writer_begin,
	.data = sqfs_writer_data,
	.end = sqfs_writer_end,
	.close = sqfs_writer_close,
};
