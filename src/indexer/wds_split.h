/*
 * wds_split.h: which part of a dataset a file's name says it is.
 *
 * Threads: any.
 */
#ifndef GRANARY_INDEXER_WDS_SPLIT_H
#define GRANARY_INDEXER_WDS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "source/source_set.h"

enum { WDS_SPLIT_BYTES = 16 };

/* The split in a file's name, "train" of "imagenet-train-000003.tar"; NULL: none. */
const char *wds_split_of(const char *path, char out[WDS_SPLIT_BYTES]);

/* Do the names of these files say more than one? */
bool wds_several_splits(const struct source_set *sources);

#endif
