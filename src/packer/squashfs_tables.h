/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_tables.h: writes the tables behind the data of an image: inodes, directories,
 * fragments, owners and xattrs.
 */
#ifndef GRANARY_PACKER_SQUASHFS_TABLES_H
#define GRANARY_PACKER_SQUASHFS_TABLES_H

#include <sqfs/compressor.h>
#include <sqfs/frag_table.h>
#include <sqfs/id_table.h>
#include <sqfs/super.h>
#include <sqfs/xattr_writer.h>

#include "packer/squashfs_blocks.h"
#include "packer/squashfs_tree.h"

struct squashfs_output {
	struct squashfs_file file;
	struct squashfs_tree tree;
	sqfs_super_t super;
	sqfs_compressor_t *compressor;
	sqfs_frag_table_t *fragments;
	sqfs_id_table_t *ids;
	sqfs_xattr_writer_t *xattrs;
};

/*
 * Writes the tables behind the data of all files, and then the superblock. The tree is
 * sealed. 0 or an error of libsquashfs.
 */
int squashfs_tables_write(struct squashfs_output *image);

#endif
