/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mds_labels.h: which column labels a shard's samples, and what it says. Private to
 * format/mds/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_MDS_MDS_LABELS_H
#define GRANARY_FORMAT_MDS_MDS_LABELS_H

#include "format/mds/mds_shard.h"

enum { MDS_TEXT_BYTES = 255, MDS_WHY_BYTES = 96 };

/*
 * The column of labels: that of labels=NAME, or by the rules; NULL: none. Tells what else
 * could be meant. 0, or an error that was told.
 */
int mds_labels_choose(struct mds_shard *shard, const struct mds_column **out);

struct mds_label {
	bool none;     /* NaN, an empty text */
	bool in_words; /* the name of a class */
	int64_t number;
	char text[MDS_TEXT_BYTES + 1];
};

/*
 * The label in the sample at hand: 0; -EDOM where it is no label, and why; or an error that
 * was told.
 */
int mds_label_read(struct mds_shard *shard, const struct mds_column *column,
		   struct mds_label *out, char why[MDS_WHY_BYTES]);

/* A text of the sample at hand: its length; -EDOM: too long, or with a NUL; or an error that
   was told. */
int mds_text_read(struct mds_shard *shard, const struct mds_column *column,
		  char out[MDS_TEXT_BYTES + 1]);

#endif
