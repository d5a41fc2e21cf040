/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mds_picture.h: the file that a value of an MDS shard is shown as: a header that is made,
 * and a part of the value. Private to format/mds/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_MDS_MDS_PICTURE_H
#define GRANARY_FORMAT_MDS_MDS_PICTURE_H

#include "format/mds/mds_shard.h"

enum { MDS_HEAD_BYTES = 1536 };

struct mds_picture {
	struct mds_value body;
	bool none;    /* it cannot be shown: pixels of another mode than RGB and L, no image */
	bool several; /* the first of several images */
	const char *extension; /* by its type; NULL: unknown */
	size_t head_length;
	char head[MDS_HEAD_BYTES];
};

/*
 * The file of a column's value in the sample at hand, which has that number: 0, or an error
 * that was told.
 */
int mds_picture_read(struct mds_shard *shard, const struct mds_column *column, uint32_t number,
		     struct mds_picture *out);

#endif
