/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assembly.h: what a dataset is put together from. Private to dataset/.
 */
#ifndef GRANARY_DATASET_ASSEMBLY_H
#define GRANARY_DATASET_ASSEMBLY_H

#include "dataset/dataset.h"
#include "source/source_set.h"
#include "volume/volume.h"

/* Immutable once it is open. */
struct dataset {
	uint64_t magic; /* HANDLE_DATASET */
	struct source_set sources;
	struct index *index;
	char *index_path; /* NULL: in memory */
	bool indexed;     /* just now: what the indexer fetched is still in the page cache */
	struct volume_table volumes;
	uint32_t root;    /* the node that is shown as the root */
	bool borrows;     /* sources and index are somebody else's */
	bool compares;    /* what is read, with its checksums */
};

/* As dataset_read, where it compares; without the line in the log. */
ssize_t dataset_read_checked(const struct dataset *dataset, uint32_t node, void *buffer,
			     size_t length, uint64_t offset, struct read_context *context);

/*
 * Compares these bytes of a file, which are whole blocks: false, and where the first
 * block begins that is wrong or is not there whole. True also where no checksum is known.
 */
bool dataset_compare(const struct dataset *dataset, uint32_t node, const void *bytes,
		     size_t length, uint64_t offset, uint64_t *wrong);

#endif
