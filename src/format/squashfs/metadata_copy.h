/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metadata_copy.h: the metadata of an image that lies in a compressed stream, in memory,
 * since libsquashfuse reads from a descriptor. Private to format/squashfs/.
 */
#ifndef GRANARY_FORMAT_SQUASHFS_METADATA_COPY_H
#define GRANARY_FORMAT_SQUASHFS_METADATA_COPY_H

#include "format/squashfs/metadata.h"

/*
 * A file in memory with the superblock and all bytes from the table of inodes on, at their
 * places in the image; other bytes are zeros, which take no memory. A descriptor, which the
 * caller closes; or an error that was told.
 */
int squashfs_copy_metadata(const struct squashfs_image *image);

#endif
