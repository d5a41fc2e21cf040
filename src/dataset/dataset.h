/*
 * dataset.h: everything that a mount serves, without FUSE: the sources, the
 * index, the volumes.
 *
 * Threads: dataset_open and dataset_close by one thread; everything else by
 * any number at once, without a lock.
 */
#ifndef GRANARY_DATASET_DATASET_H
#define GRANARY_DATASET_DATASET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dataset/config.h"
#include "tree/index.h"
#include "util/error.h"

struct dataset;

/*
 * Opens the sources (paths and shard patterns), finds an index that fits them
 * or has one made by `granary index`, a process of its own, whose progress goes
 * to standard error. Blocks until that is done. `config` may be freed afterwards.
 */
int dataset_open(const struct dataset_config *config, char *const *sources,
		 size_t source_count, struct dataset **out, struct error *e);
void dataset_close(struct dataset *dataset);

const struct tree *dataset_tree(const struct dataset *dataset);

/* The node that is shown as the root: `subdir`, or TREE_ROOT. */
uint32_t dataset_root(const struct dataset *dataset);

/*
 * Reads up to `length` bytes of a file: how many (fewer only at its end, where
 * it is 0), or -EIO, -EINVAL for what is no file. A failure is logged with
 * path, source and offset.
 */
ssize_t dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
		     size_t length, uint64_t offset);

/* What `granary info` shows. The pointers live as long as the dataset. */
struct dataset_info {
	struct index_summary summary;
	uint32_t sources;
	const char *first_source;
	const char *first_place; /* where that was when it was opened */
	uint64_t source_bytes;
	const char *index_path; /* NULL: the index is in memory */
	uint64_t index_bytes;
};

int dataset_info(const struct dataset *dataset, struct dataset_info *out);

#endif
