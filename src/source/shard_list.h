/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shard_list.h: the shards of a dataset of MosaicML Streaming (MDS), or the chunks of one of
 * LitData, which its index.json names.
 *
 * Each shard has the path of a file, stored plain or compressed, below the directory of
 * index.json, and the size of that file. A merged index names shards of directories. Facts:
 * streaming/base/format/base/writer.py and base/util.py (merge_index) of mosaicml/streaming;
 * litdata/streaming/writer.py of Lightning-AI/litData.
 *
 * Threads: as json_names.h.
 */
#ifndef GRANARY_SOURCE_SHARD_LIST_H
#define GRANARY_SOURCE_SHARD_LIST_H

#include <stdint.h>

#include "source/json_names.h"

/* LitData notes no size of a compressed file, nor of its index.json. */
#define SHARD_SIZE_UNKNOWN UINT64_MAX

struct shard_name {
	char *path;       /* owned */
	size_t directory; /* its first bytes: the file lies below that directory, the named one;
			     LitData's index.json, too, which goes before its chunks */
	uint64_t size;    /* of the file, as the index says */
};

struct shard_list {
	struct shard_name *items;
	size_t count, room;
};

void shard_list_free(struct shard_list *list);

/*
 * Appends the shards of an index.json, by its path: 1; 0: it is no index of shards; or a
 * negative errno and a sentence. Of a shard that is there as it is and compressed, the first
 * is taken.
 */
int shard_list_of_file(const char *path, size_t *left, struct shard_list *list,
		       struct error *e);

/*
 * The same of a directory that has an index.json; or of those directories in it that have one,
 * in the order of their names: train/ and val/.
 */
int shard_list_of_directory(const char *path, size_t *left, struct shard_list *list,
			    struct error *e);

#endif
