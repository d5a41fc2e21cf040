/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xattr_sets.h: the `user.` xattrs of a file in a squashfs image. Private
 * to format/squashfs/.
 *
 * Threads: one of these belongs to one thread.
 */
#ifndef GRANARY_FORMAT_SQUASHFS_XATTR_SETS_H
#define GRANARY_FORMAT_SQUASHFS_XATTR_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "build/entries.h"
#include "format/squashfs/metadata.h"

struct squashfs_xattrs {
	struct squashfs_image *image;
	VEC(struct entry_xattr) items; /* of the set that was read last */
	bool left_out;                 /* were some of it beyond the limits? */

	struct arena arena;            /* names and values */
	size_t total;                  /* bytes of values */
	bool any;
	uint32_t number;               /* of the set, if any was read */
};

/*
 * Reads the set of that number into `items`, which are none for SQUASHFS_NONE:
 * 0, or an error as metadata.h has them.
 */
int squashfs_read_xattrs(struct squashfs_xattrs *xattrs, uint32_t number);
void squashfs_xattrs_free(struct squashfs_xattrs *xattrs);

#endif
