/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mds_rows.h: the samples of an MDS shard, as files. Private to format/mds/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_MDS_MDS_ROWS_H
#define GRANARY_FORMAT_MDS_MDS_ROWS_H

#include "format/mds/mds_labels.h"

/* How the first values of a column look. */
struct mds_looks {
	const char *extension; /* of most */
	bool known;            /* they are images, sounds or arrays */
};

int mds_rows_inspect(struct mds_shard *shard, const struct mds_column *column,
		     struct mds_looks *out);

struct mds_choice {
	const struct mds_column *shown;
	const struct mds_column *labels, *names; /* NULL: none */
	const char *split, *extension;
};

/* Appends a group of samples: a column's values. 0, or an error that was told. */
int mds_rows_add(struct mds_shard *shard, const struct mds_choice *choice);

#endif
