/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * restarts.h: keys that begin anew in each shard of WebDataset.
 *
 * Samples with labels are told apart by the view. Those that are shown as they are stored
 * would have one path (000000.jpg) in several shards: then each gets its shard's name
 * before its own (shard-000001-000000.jpg). It is no folder, which ImageFolder would take
 * for a class. Tars that are no shards keep their names: which of their files is meant is
 * for duplicates= to say.
 *
 * Threads: one thread at a time.
 */
#ifndef GRANARY_SAMPLES_RESTARTS_H
#define GRANARY_SAMPLES_RESTARTS_H

#include <stddef.h>

#include "format/format.h"
#include "samples/webdataset.h"

/* A source: what its scan has left, and what it is as a shard. */
struct restarts_shard {
	const struct scan *scan;
	const struct wds_findings *findings;
};

/* Two shards that have a file of one path. */
struct restarts_clash {
	const char *first, *second; /* the scans' labels; NULL: there are none */
	char path[64];
};

/*
 * Renames what would clash, in all shards. 0 or -ENOMEM; then the logs can only be freed.
 */
int restarts_place(const struct restarts_shard *shards, size_t n,
		   struct restarts_clash *clash);

/* Adds a finding if there was a clash. */
void restarts_report(const struct restarts_clash *clash, struct findings *findings);

#endif
