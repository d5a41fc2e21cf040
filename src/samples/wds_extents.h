/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_extents.h: extents of a shard's log: stored as they are, or, in a zip, compressed.
 * Private to samples/.
 *
 * Threads: as the logs.
 */
#ifndef GRANARY_SAMPLES_WDS_EXTENTS_H
#define GRANARY_SAMPLES_WDS_EXTENTS_H

#include "build/entries.h"
#include "format/format.h"

/*
 * The same bytes in another log of the same scan: 0; -ENOMEM; -EBADMSG for an extent that
 * is not of whole chunks.
 */
int wds_extent_copy(struct entries *to, const struct scan *scan, struct entries *from,
		    const struct entry_extent *extent, struct entry_extent *out);

/* Decodes an extent of a coded volume. -EBADMSG: its bytes are damaged, or cannot be decoded. */
int wds_extent_decode(const struct source *source, struct entries *log,
		      const struct entry_extent *extent, unsigned char *out);

#endif
