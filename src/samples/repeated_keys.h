/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * repeated_keys.h: keys that begin anew in each shard of WebDataset.
 *
 * Samples with labels are told apart by the view. Those that are shown as they are stored
 * would have one path (000000.jpg) in several shards: then each gets its shard's name
 * before its own (shard-000001-000000.jpg). It is no directory, which ImageFolder would
 * take for a class. Tars that are no shards keep their names: which of their files is
 * meant is for duplicates= to say.
 *
 * Threads: one thread at a time.
 */
#ifndef GRANARY_SAMPLES_REPEATED_KEYS_H
#define GRANARY_SAMPLES_REPEATED_KEYS_H

#include <stddef.h>

#include "format/format.h"
#include "samples/webdataset.h"

/* Two shards that have a file of one path. */
struct repeated_keys_clash {
	const char *first, *second; /* the scans' labels; NULL: there are none */
	char path[64];
};

/*
 * Renames what would clash, in all shards. 0 or -ENOMEM; then the logs can only be freed.
 */
int repeated_keys_rename(const struct wds_shard *shards, size_t n,
			 struct repeated_keys_clash *clash);

/* Adds a finding if there was a clash. */
void repeated_keys_report(const struct repeated_keys_clash *clash,
			  struct findings *findings);

#endif
