/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assembly.h: the parts of a dataset. Private to dataset/. */
#ifndef GRANARY_DATASET_ASSEMBLY_H
#define GRANARY_DATASET_ASSEMBLY_H

#include "dataset/dataset.h"
#include "source/source_set.h"
#include "volume/volume.h"

/* Immutable once open. */
struct dataset {
	uint64_t magic; /* HANDLE_DATASET */
	struct source_set sources;
	struct index *index;
	char *index_path; /* NULL: in memory */
	bool indexed;     /* just now: the page cache still holds the indexer's reads */
	struct volume_table volumes;
	uint32_t root;    /* the node shown as the root */
	bool borrows;     /* the caller owns sources and index */
	bool compares;    /* reads are compared with checksums */
};

/* As dataset_read if `compares` is set; without the line in the log. */
ssize_t dataset_read_checked(const struct dataset *dataset, uint32_t node, void *buffer,
			     size_t length, uint64_t offset, struct read_context *context);

/*
 * Compares these bytes of a file, which are whole blocks, with their checksums. False,
 * and the begin of the first block that is wrong or incomplete. True also without
 * checksums.
 */
bool dataset_compare(const struct dataset *dataset, uint32_t node, const void *bytes,
		     size_t length, uint64_t offset, uint64_t *wrong);

#endif
