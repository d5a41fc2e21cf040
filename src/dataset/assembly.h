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
	struct source_set sources;
	struct index *index;
	char *index_path; /* NULL: in memory */
	bool indexed;     /* just now: what the indexer fetched is still in the page cache */
	struct volume_table volumes;
	uint32_t root;    /* the node that is shown as the root */
};

#endif
