/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/squashfs/metadata_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	COPIED_PIECE = 1 << 20,
	COPIED_MOST = 1 << 30, /* bytes */
};

/* Copies bytes of the image to the same place of the file. */
static int copy_range(const struct squashfs_image *image, int fd, uint64_t start, uint64_t end)
{
	CLEANUP(cleanup_free) void *piece = malloc(COPIED_PIECE);
	const struct scan *scan = image->scan;

	if (!piece)
		return squashfs_out_of_memory(image);
	for (uint64_t at = start, n; at < end; at += n) {
		int err;

		n = end - at < COPIED_PIECE ? end - at : COPIED_PIECE;
		err = source_pread(scan->source, piece, (size_t)n, scan->base + at);
		if (err)
			return squashfs_unreadable(image, at, err);
		if (pwrite(fd, piece, (size_t)n, (off_t)at) != (ssize_t)n)
			return squashfs_out_of_memory(image);
	}
	return 0;
}

int squashfs_copy_metadata(const struct squashfs_image *image)
{
	int fd, err;

	if (image->used - image->inodes > COPIED_MOST)
		return squashfs_refuse_bomb(image, "tables");
	fd = memfd_create("squashfs", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)image->used) < 0)
		err = squashfs_out_of_memory(image);
	else
		err = copy_range(image, fd, 0, SQUASHFS_SUPERBLOCK_BYTES);
	if (!err)
		err = copy_range(image, fd, image->inodes, image->used);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}
