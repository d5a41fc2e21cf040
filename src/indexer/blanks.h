/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blanks.h: shards without a member.
 *
 * A downloader leaves a tar of zeros where nothing of a shard could be had. In a set of
 * tars it is an empty one, and that is said. Alone, or where all are so, there is nothing
 * to show, which is an error; and beside files of other formats it is one that was never
 * written.
 *
 * Threads: one thread at a time, once all scans are over.
 */
#ifndef GRANARY_INDEXER_BLANKS_H
#define GRANARY_INDEXER_BLANKS_H

#include <stdint.h>

#include "base/error.h"
#include "index/index.h"

struct job;

struct blanks {
	const char *first; /* the label of the first shard without a member; NULL: none */
	uint32_t count, of;
	const struct job *other; /* the first one with members, which says what all are */
};

/*
 * Finds them: 0, or -EBADMSG and a sentence where one is an error. Before what the scans
 * have found is used up.
 */
int blanks_find(struct job *const *jobs, uint32_t count, struct blanks *out,
		struct error *e);

/* Says which shards have no member, if there are any. */
void blanks_report(const struct blanks *blanks, struct index_summary *summary);

#endif
