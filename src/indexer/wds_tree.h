/*
 * wds_tree.h: whether directories in keys are classes already.
 *
 * Threads: as the log of entries that is walked.
 */
#ifndef GRANARY_INDEXER_WDS_TREE_H
#define GRANARY_INDEXER_WDS_TREE_H

#include <stdbool.h>

#include "indexer/wds_build.h"

/*
 * Do the labels and the directories (below that of a split) of the samples say the same,
 * one directory for one label? Then an ImageFolder is what the shard is as it stands. 1,
 * 0 (also where all lie in one, or some in none), or a negative errno.
 */
int wds_is_tree(struct entries *log, const struct wds_records *records);

/* A path without "./" and slashes before it. */
const char *wds_plain_path(const char *path);

#endif
