/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shard.h: one packed file from its part of the plan.
 *
 * Threads: one calls it; it starts a reader's.
 */
#ifndef GRANARY_PACKER_SHARD_H
#define GRANARY_PACKER_SHARD_H

#include <sys/stat.h>

#include "packer/packer.h"
#include "packer/scan.h"
#include "packer/writer.h"

struct shard_job {
	const struct pack_options *options;
	struct pack_progress *progress;
	struct pack_result *result;  /* counts what was packed, and problems */
	const struct writer_ops *writer;
	int root;                    /* the source folder */
	const struct plan_item *items;
	size_t count;
	struct decoders *decoders;   /* NULL where no image is decoded */
	unsigned threads;
	int64_t newest;
	const char *plan;            /* of a set: where its size is noted; or NULL */
	size_t number;               /* in the set */
	const struct scan *scan;     /* of the last: is the tree what was listed? or NULL */
	const struct stat *folder;   /* but for this one, where the packed files are made */
};

/*
 * Writes the file shard->path and fills shard->bytes: 0, or a negative errno and a
 * sentence, and nothing is left.
 */
int shard_write(const struct shard_job *job, struct pack_shard *shard, struct error *e);

/*
 * Can the format hold everything that is planned? Only items, count, writer and options
 * are looked at. 0, or a negative errno and a sentence that names the first it cannot.
 */
int shard_check(const struct shard_job *job, struct error *e);

#endif
