/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_blocks.h: the file of an image, and the writer of its data blocks.
 *
 * libsquashfs's own block writer compares a file with every earlier block to find a
 * duplicate, which takes hours for a million files. This one uses a hash table, and
 * compares a match byte by byte.
 *
 * Threads: libsquashfs calls both from the thread that feeds it, never from its own
 * threads.
 */
#ifndef GRANARY_PACKER_SQUASHFS_BLOCKS_H
#define GRANARY_PACKER_SQUASHFS_BLOCKS_H

#include <sqfs/block_writer.h>
#include <sqfs/io.h>

#include <stdint.h>

/*
 * After a failed write nothing more is written, and libsquashfs gets success: after an
 * error it would leak its blocks in progress. So a caller always checks `error`.
 */
struct squashfs_file {
	sqfs_file_t ops; /* first: libsquashfs has a pointer to it */
	int fd;          /* the caller's */
	int error;       /* of the first failed call, a negative errno, or 0 */
	uint64_t size;   /* bytes */
};

void squashfs_file_init(struct squashfs_file *file, int fd);

/* Of `file`, which must outlive it; or NULL: out of memory. sqfs_destroy frees it. */
sqfs_block_writer_t *squashfs_blocks_create(struct squashfs_file *file);

#endif
