/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_blocks.h: the file that an image is written to, as libsquashfs sees it, and
 * the writer of its data blocks.
 *
 * libsquashfs has a writer of blocks of its own; to find a file that was written before
 * it compares with every block there is, which takes hours for a million files. This
 * one looks in a hash table. What it finds is compared byte by byte before it counts.
 *
 * libsquashfs calls both from the thread that feeds it, never from its own threads.
 */
#ifndef GRANARY_PACKER_SQUASHFS_BLOCKS_H
#define GRANARY_PACKER_SQUASHFS_BLOCKS_H

#include <sqfs/block_writer.h>
#include <sqfs/io.h>

#include <stdint.h>

/*
 * Once the system has refused something nothing more is written, and libsquashfs is told
 * that all is well: after an error it would lose the blocks that are under way. So
 * whoever calls it looks at `error`, whatever it says.
 */
struct squashfs_file {
	sqfs_file_t ops; /* first: libsquashfs has a pointer to it */
	int fd;          /* the caller's */
	int error;       /* what the system said first, a negative errno, or 0 */
	uint64_t size;   /* bytes */
};

void squashfs_file_init(struct squashfs_file *file, int fd);

/* Of `file`, which must live longer; or NULL: out of memory. sqfs_destroy frees it. */
sqfs_block_writer_t *squashfs_blocks_create(struct squashfs_file *file);

#endif
