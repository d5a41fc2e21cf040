/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs.h: the results of an indexer's scans.
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
#include "samples/repeated_keys.h"
#include "samples/split_shards.h"
#include "samples/wds_report.h"
#include "stream/decoded.h"

/* A window to scan: a shard, or a packed file inside one. */
struct job {
	struct scan scan; /* scan.indexer points back here */
	struct row_options rows; /* the scan's */
	struct indexer *indexer;
	uint32_t number;   /* of its packed file */
	const struct format *format; /* of a shard: found when the job runs */
	struct job *shard; /* the job itself for a shard */
	char *label;       /* owned */
	const char *member; /* of a nested file: its name, within the label */
	char split[SPLIT_BYTES];
	struct wds_findings findings; /* of a shard that is a tar */
	struct findings found; /* of the scan */
	struct decoded *stream; /* that the scan reads; owned by the indexer; NULL: none */
	struct decoded *labels; /* scan.labels_in is this; owned; NULL: it is no stream */
	uint64_t passed;   /* bytes of the stream's stored ones: stream_job_passed */
	unsigned streams;  /* that it lies in, one within the other */
	uint64_t top;      /* where it begins in the shard: it, or the file that it is in */
	int depth;         /* 0: a shard */
	int result;        /* of a shard: the first fault, also of files inside */
	struct error *error; /* of a shard: the sentence; owned */
};

/* A stream in a window of a source, or of another stream. */
struct listed_stream {
	struct decoded *decoded;
	uint32_t source; /* as in struct stream_record */
};

struct indexer {
	const struct indexer_config *config;
	const struct source_set *sources;
	struct indexer_progress *progress;
	struct user_maps maps;    /* maps and list */
	struct findings findings; /* of the whole set; in the end of all files */
	struct regroup *regroup;  /* NULL: paths stay unchanged */
	struct pool *pool;
	bool splits;              /* the shards' names have several splits */
	struct unsplit_files strays; /* shards without a split */
	struct blanks blanks;     /* empty shards */
	struct wds_shard *shards; /* one for each source, once all have been scanned */
	struct repeated_keys_clash clash; /* keys that restart in each shard */
	_Atomic uint32_t failed;  /* the first shard that could not be read */
	struct lock lock;
	VEC(struct job *) nested; /* lock; freed at the end */
	VEC(struct listed_stream) streams; /* lock; number i is VOLUME_ON_STREAM | i */
	size_t opened;            /* number of these shown as directories, */
	const char *opened_first; /* and the name of the first, in the sources' order */
};

/*
 * Makes the sealed image of the results of `jobs`, one for each source. One thread, after
 * all scans. 0, or a negative errno and *e.
 */
int indexer_assemble(struct indexer *indexer, struct job **jobs, struct image *image,
		     struct error *e);

#endif
