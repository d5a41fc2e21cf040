/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blanks.h: shards without a member.
 *
 * A downloader may leave a tar of zeros for a shard that it could not fetch. In a set of
 * tars it is an empty shard, and reported. It is an error where all shards are empty, and
 * beside files of other formats, where the shard was never written.
 *
 * Threads: one, after all scans.
 */
#ifndef GRANARY_INDEXER_BLANKS_H
#define GRANARY_INDEXER_BLANKS_H

#include <stdint.h>

#include "base/error.h"
#include "build/findings.h"

struct job;

struct blanks {
	const char *first; /* the label of the first empty shard; NULL: none */
	uint32_t count, of;
	const struct job *other; /* the first shard with members, whose format decides */
};

/*
 * Finds empty shards: 0, or -EBADMSG and *e where one is an error. Call it before the
 * results of the scans are used up.
 */
int blanks_find(struct job *const *jobs, uint32_t count, struct blanks *out,
		struct error *e);

/* Reports empty shards, if there are any. */
void blanks_report(const struct blanks *blanks, struct findings *findings);

#endif
