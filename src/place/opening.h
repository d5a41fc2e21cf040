/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opening.h: all that is opened by its name when a dataset is: packed files, the files
 * of options, and an index.
 *
 * For another user a child does it (os/errand.h), and this process gets the
 * descriptors. It asks none of them what it is. The index comes as a copy in a memfd, as
 * everywhere.
 */
#ifndef GRANARY_PLACE_OPENING_H
#define GRANARY_PLACE_OPENING_H

#include "index/index.h"
#include "os/rights.h"
#include "place/config.h"
#include "place/find.h"
#include "source/source_set.h"

struct opening {
	const struct dataset_config *config;
	const struct rights *rights; /* of another user; NULL: this process's own */
	char *const *arguments;      /* paths and shard patterns */
	size_t argument_count;
	/* from here on it is filled in */
	struct source_set sources;
	struct index_wish wish;      /* of these sources */
	struct index *index;         /* NULL: none fits */
	char *index_path;
	uint32_t promised;           /* sources that a child is going to send */
};

/*
 * Opens the sources, and an index if one fits: 0, or a negative errno and a sentence. The
 * first four members are set, the rest is zero. opening_end frees it, also after an error.
 */
int opening_begin(struct opening *opening, struct error *e);

/* Looks for an index again. */
int opening_find_index(struct opening *opening, struct error *e);

/* Frees what is left in it: members that were moved elsewhere are zero by then. */
void opening_end(struct opening *opening);

#endif
