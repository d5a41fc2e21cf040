/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refs.h: what a scan of an image has seen already: a table from
 * references (positions, numbers of fragments) to numbers of the caller's.
 * Private to format/squashfs/. Not for concurrent use.
 */
#ifndef GRANARY_FORMAT_SQUASHFS_REFS_H
#define GRANARY_FORMAT_SQUASHFS_REFS_H

#include <stdint.h>

#include "base/idmap.h"
#include "base/vec.h"

struct squashfs_ref {
	uint64_t reference;
	uint32_t number;
};

struct squashfs_refs {
	struct idmap map;
	VEC(struct squashfs_ref) items;
};

/* Its number, or NULL. */
const uint32_t *squashfs_refs_find(const struct squashfs_refs *refs,
				   uint64_t reference);

/* Adds one that is not there: 0 or -ENOMEM. */
int squashfs_refs_add(struct squashfs_refs *refs, uint64_t reference,
		      uint32_t number);
void squashfs_refs_free(struct squashfs_refs *refs);

#endif
