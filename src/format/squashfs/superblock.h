/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * superblock.h: is what the superblock says of an image possible?
 * Private to format/squashfs/.
 */
#ifndef GRANARY_FORMAT_SQUASHFS_SUPERBLOCK_H
#define GRANARY_FORMAT_SQUASHFS_SUPERBLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/squashfs/metadata.h"

/*
 * Checks all that libsquashfuse takes on trust, and fills in `used`, block size
 * and compression: 0, or an error as metadata.h has them.
 */
int squashfs_check_superblock(struct squashfs_image *image);

/*
 * Do the pointers to a table's blocks lie within the image? The table has
 * `count` items of `each` bytes.
 */
bool squashfs_table_fits(const struct squashfs_image *image, uint64_t start,
			 uint64_t count, size_t each);

#endif
