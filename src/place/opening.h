/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opening.h: opens all files of a dataset: packed files, files of options, and an index.
 *
 * For another user a child opens them (os/opener.h) and sends the descriptors, on which
 * this process calls no filesystem. The index comes as a copy in a memfd.
 */
#ifndef GRANARY_PLACE_OPENING_H
#define GRANARY_PLACE_OPENING_H

#include "index/index.h"
#include "os/rights.h"
#include "place/config.h"
#include "place/find.h"
#include "place/spool.h"
#include "source/source_set.h"

struct opening {
	const struct dataset_config *config;
	const struct rights *rights; /* of another user; NULL: this process's */
	char *const *arguments;      /* paths and shard patterns */
	size_t argument_count;
	/* results */
	struct source_set sources;
	struct index_wish wish;      /* of these sources */
	struct index *index;         /* NULL: none fits */
	char *index_path;
	uint32_t promised;           /* sources that a child will send */
	struct spool spool;          /* with -o spool=, of opening_unpack */
	bool unnamed;                /* sources are files without a name */
};

/*
 * Opens the sources, and an index if one fits: 0, or a negative errno and *e. The caller
 * sets the first four members, and zeroes the rest. Call opening_end also after an error.
 */
int opening_begin(struct opening *opening, struct error *e);

/*
 * With -o spool=: has sources unpacked that cannot be read otherwise, puts the files in their
 * place, and searches for an index of these. 0, or an errno and *e.
 */
int opening_unpack(struct opening *opening, struct error *e);

/* Searches for an index again. */
int opening_find_index(struct opening *opening, struct error *e);

/* Frees the members; those that were moved elsewhere must be zero. */
void opening_end(struct opening *opening);

#endif
