/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contents.h: where the bytes of a file in a squashfs image are.
 * Private to format/squashfs/.
 *
 * Stored as they are, they become extents of the raw volume; compressed, chunks
 * of a coded one. The tails of small files share fragment blocks: each of these
 * is one chunk, however many files have a part of it.
 *
 * Threads: one of these belongs to one thread.
 */
#ifndef GRANARY_FORMAT_SQUASHFS_CONTENTS_H
#define GRANARY_FORMAT_SQUASHFS_CONTENTS_H

#include <stdint.h>

#include "base/vec.h"
#include "build/entries.h"
#include "format/squashfs/metadata.h"
#include "format/squashfs/refs.h"

struct squashfs_contents {
	struct squashfs_image *image;
	VEC(struct entry_extent) extents; /* of the file at hand */
	uint64_t stored;                  /* its bytes that no file had before */

	uint64_t listed;                  /* bytes of all lists of blocks */
	uint64_t block_bytes;             /* of the chunks and extents of all files */
	struct squashfs_refs numbers;     /* of fragments, to places in the next */
	VEC(struct entry_extent) fragments; /* file_offset: 0 */
};

/* Finds the extents of a file: 0, or an error as metadata.h has them. */
int squashfs_find_contents(struct squashfs_contents *contents,
			   const struct squashfs_inode *inode);
void squashfs_contents_free(struct squashfs_contents *contents);

#endif
