/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label_pairs.h: files of images and files of their labels, by their names. Private to
 * indexer/.
 */
#ifndef GRANARY_INDEXER_LABEL_PAIRS_H
#define GRANARY_INDEXER_LABEL_PAIRS_H

#include "indexer/jobs.h"

/*
 * Sets labels_in and labels_of of the scans whose names pair, before they run. 0 or
 * -ENOMEM.
 */
int label_pairs_join(struct job **jobs, uint32_t count);

#endif
