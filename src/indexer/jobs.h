/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs.h: what the scans of an indexer's shards leave, for its own files.
 *
 * Private to indexer/. Threads: see the members.
 */
#ifndef GRANARY_INDEXER_JOBS_H
#define GRANARY_INDEXER_JOBS_H

#include "base/vec.h"
#include "build/findings.h"
#include "format/format.h"
#include "indexer/blanks.h"
#include "indexer/indexer.h"
#include "indexer/user_maps.h"
#include "names/split_words.h"
#include "os/lock.h"
#include "os/pool.h"
#include "regroup/regroup.h"
#include "samples/restarts.h"
#include "samples/split_shards.h"
#include "samples/wds_report.h"

/* One window to scan: a shard, or a packed file inside one. */
struct job {
	struct scan scan; /* scan.indexer points back here */
	struct row_options rows; /* the scan's */
	struct indexer *indexer;
	const struct format *format; /* of a shard: found when the job runs */
	struct job *shard; /* itself, of a shard */
	char *label;       /* owned */
	const char *member; /* of a nested file: its name, the end of the label */
	char split[SPLIT_BYTES];
	struct wds_findings findings; /* of a shard that is a tar */
	struct findings told; /* what its format chose and left out */
	int depth;         /* 0: a shard */
	int result;        /* of a shard: the first fault, its own or one within */
	struct error *error; /* of a shard: what goes with it; owned */
};

struct indexer {
	const struct indexer_config *config;
	const struct source_set *sources;
	struct indexer_progress *progress;
	struct given given;       /* maps and list, read */
	struct regroup *regroup;  /* NULL: paths stay as they are */
	struct pool *pool;
	bool splits;              /* the shards' names say several, */
	struct splits_strays strays; /* and those of some say none */
	struct blanks blanks;     /* shards without a member */
	struct restarts_clash clash; /* keys that begin anew in each shard */
	_Atomic uint32_t failed;  /* the first shard that could not be read */
	struct lock lock;
	VEC(struct job *) nested; /* lock; freed at the end */
	size_t opened;            /* how many of these are shown as directories, */
	const char *opened_first; /* and the name of the first in the sources' order */
};

/*
 * Makes the tree of what `jobs` (one a source) have found: names, classes, the sealed
 * image. One thread, once all scans are over. 0, or a negative errno and a sentence.
 */
int indexer_assemble(struct indexer *indexer, struct job **jobs, struct image *image,
		     struct error *e);

#endif
