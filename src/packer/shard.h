/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shard.h: writes one packed file from its part of the plan.
 *
 * Threads: called by one; starts a reader's.
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
	struct pack_result *result;  /* counts packed entries, and problems */
	const struct writer_ops *writer;
	const char *compressor;      /* NULL: that of the options */
	const struct pack_scan *scan;
	const struct plan_item *items;
	size_t count;
	struct decoders *decoders;   /* NULL where no image is decoded */
	unsigned threads;
	int64_t newest;
	const char *plan;            /* of a set: its size is noted there; or NULL */
	size_t number;               /* in the set */
	bool last;                   /* it checks whether the tree has changed */
	const struct stat *directory;   /* the output directory, which is not checked */
};

/*
 * Writes the file shard->path and fills shard->bytes: 0, or a negative errno and a
 * sentence; after an error no file remains.
 */
int shard_write(const struct shard_job *job, struct pack_shard *shard, struct error *e);

/*
 * Can the format hold all planned items? Only items, count, writer and options are used.
 * 0, or a negative errno and a sentence about the first item that does not fit.
 */
int shard_check(const struct shard_job *job, struct error *e);

#endif
