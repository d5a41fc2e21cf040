/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_tables.c: a directory's listing refers to the inodes of its names, and the
 * directory's inode to the listing. So they are written from the leaves to the root: of
 * each directory first its subdirectories, then its files' inodes, side by side, then its
 * listing, then its inode.
 */
#include "packer/squashfs_tables.h"

#include <sqfs/dir_writer.h>
#include <sqfs/error.h>
#include <sqfs/inode.h>
#include <sqfs/meta_writer.h>

#include <stdlib.h>
#include <string.h>

enum { PADDING = 4096 }; /* as mksquashfs: whole pages, for loop devices */

struct tables {
	struct squashfs_output *image;
	sqfs_meta_writer_t *inodes, *listings;
	sqfs_dir_writer_t *directory;
};

static int write_inode(struct tables *tables, struct squashfs_node *node,
		       sqfs_inode_generic_t *inode)
{
	sqfs_u64 block;
	sqfs_u32 offset;

	inode->base.mode = node->mode;
	inode->base.uid_idx = node->owner;
	inode->base.gid_idx = node->group;
	inode->base.mod_time = node->mtime;
	inode->base.inode_number = node->number;
	sqfs_meta_writer_get_position(tables->inodes, &block, &offset);
	node->place = block << 16 | offset;
	return sqfs_meta_writer_write_inode(tables->inodes, inode);
}

static int sqfs_tables_write_file(struct tables *tables, struct squashfs_node *node)
{
	sqfs_inode_generic_t *inode = node->inode;
	int rc = sqfs_inode_set_xattr_index(inode, node->xattrs);

	if (!rc && node->links > 1) {
		rc = sqfs_inode_make_extended(inode);
		inode->data.file_ext.nlink = node->links;
	}
	return rc ? rc : write_inode(tables, node, inode);
}

static int sqfs_tables_write_symlink(struct tables *tables, struct squashfs_node *node)
{
	const size_t length = strlen(node->target);
	sqfs_inode_generic_t *inode = calloc(1, sizeof(*inode) + length + 1);
	int rc;

	if (!inode)
		return SQFS_ERROR_ALLOC;
	memcpy(inode->extra, node->target, length);
	inode->payload_bytes_available = (sqfs_u32)length + 1;
	inode->payload_bytes_used = (sqfs_u32)length;
	inode->base.type = SQFS_INODE_SLINK;
	inode->data.slink.nlink = node->links;
	inode->data.slink.target_size = (sqfs_u32)length;
	rc = sqfs_inode_set_xattr_index(inode, node->xattrs);
	if (!rc)
		rc = write_inode(tables, node, inode);
	free(inode);
	return rc;
}

static const sqfs_u16 types[] = {
	[PACK_DIRECTORY] = SQFS_INODE_MODE_DIR,
	[PACK_FILE] = SQFS_INODE_MODE_REG,
	[PACK_SYMLINK] = SQFS_INODE_MODE_LNK,
};

static int write_listing(struct tables *tables, struct squashfs_node *node)
{
	int rc = sqfs_dir_writer_begin(tables->directory, 0);

	for (size_t i = 0; i < node->directory.count && !rc; i++) {
		const struct squashfs_node *child = node->directory.sorted[i], *target;

		target = child->kind == PACK_HARDLINK ? child->link.first : child;
		rc = sqfs_dir_writer_add_entry(tables->directory, child->name,
					       target->number, target->place,
					       types[target->kind] | target->mode);
	}
	return rc ? rc : sqfs_dir_writer_end(tables->directory);
}

static int write_directory(struct tables *tables, struct squashfs_node *node)
{
	/* the root has no parent: as mksquashfs, the number behind the last inode */
	const uint32_t parent = node->parent == node ? tables->image->tree.inodes + 1 :
						       node->parent->number;
	sqfs_inode_generic_t *inode;
	int rc = write_listing(tables, node);

	if (rc)
		return rc;
	inode = sqfs_dir_writer_create_inode(tables->directory, 0, node->xattrs, parent);
	if (!inode)
		return SQFS_ERROR_ALLOC;
	if (inode->base.type == SQFS_INODE_EXT_DIR)
		inode->data.dir_ext.nlink = node->links;
	else
		inode->data.dir.nlink = node->links;
	rc = write_inode(tables, node, inode);
	sqfs_free(inode);
	return rc;
}

/* Writes the inodes of the directory's names, except subdirectories. */
static int sqfs_tables_write_files(struct tables *tables,
				   const struct squashfs_node *directory)
{
	int rc = 0;

	for (size_t i = 0; i < directory->directory.count && !rc; i++) {
		struct squashfs_node *node = directory->directory.sorted[i];

		if (node->kind == PACK_FILE)
			rc = sqfs_tables_write_file(tables, node);
		else if (node->kind == PACK_SYMLINK)
			rc = sqfs_tables_write_symlink(tables, node);
	}
	return rc;
}

/*
 * A directory is written after the directories in it. Parents were numbered before their
 * children, so the loop goes backwards. A hard link needs the location of a file in any
 * directory, so all files are written first.
 */
static int write_tree(struct tables *tables)
{
	const struct squashfs_tree *tree = &tables->image->tree;
	int rc = 0;

	for (size_t i = 0; i < tree->directories.count && !rc; i++)
		rc = sqfs_tables_write_files(tables, tree->directories.items[i]);
	for (size_t i = tree->directories.count; i-- && !rc;)
		rc = write_directory(tables, tree->directories.items[i]);
	return rc;
}

/* Inodes go to the file; listings stay in memory until the inodes are complete. */
static int write_names(struct squashfs_output *image)
{
	sqfs_file_t *file = &image->file.ops;
	struct tables tables = {
		.image = image,
		.inodes = sqfs_meta_writer_create(file, image->compressor, 0),
		.listings = sqfs_meta_writer_create(file, image->compressor,
						    SQFS_META_WRITER_KEEP_IN_MEMORY),
	};
	int rc = SQFS_ERROR_ALLOC;

	if (tables.listings)
		tables.directory = sqfs_dir_writer_create(tables.listings, 0);
	image->super.inode_table_start = image->file.size;
	if (tables.inodes && tables.directory)
		rc = write_tree(&tables);
	if (!rc)
		rc = sqfs_meta_writer_flush(tables.inodes);
	if (!rc)
		rc = sqfs_meta_writer_flush(tables.listings);
	image->super.root_inode_ref = image->tree.root->place;
	image->super.directory_table_start = image->file.size;
	if (!rc)
		rc = sqfs_meta_write_write_to_file(tables.listings);
	sqfs_destroy(tables.directory);
	sqfs_destroy(tables.listings);
	sqfs_destroy(tables.inodes);
	return rc;
}

static int write_padding(struct squashfs_file *file)
{
	static const char zeros[PADDING];
	const size_t over = file->size % PADDING;

	return over ? file->ops.write_at(&file->ops, file->size, zeros, PADDING - over) : 0;
}

int squashfs_tables_write(struct squashfs_output *image)
{
	sqfs_file_t *file = &image->file.ops;
	int rc = write_names(image);

	if (!rc)
		rc = sqfs_frag_table_write(image->fragments, file, &image->super,
					   image->compressor);
	if (!rc)
		rc = sqfs_id_table_write(image->ids, file, &image->super,
					 image->compressor);
	if (!rc)
		rc = sqfs_xattr_writer_flush(image->xattrs, file, &image->super,
					     image->compressor);
	image->super.inode_count = image->tree.inodes;
	image->super.bytes_used = image->file.size;
	if (!rc)
		rc = write_padding(&image->file);
	return rc ? rc : sqfs_super_write(&image->super, file);
}
