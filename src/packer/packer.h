/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packer.h: a source tree becomes packed files.
 *
 * Scan (scan.h), plan (plan.h), and then shard by shard: readers (read_ring.h) bring the
 * contents in the plan's order, a writer (writer.h) makes the format, and the file gets
 * its name when it is complete (output.h).
 *
 * The same tree and options give the same bytes: nothing depends on a clock, on the
 * order in which a filesystem lists names, or on the number of threads.
 *
 * Threads: packer_run is called by one; the progress may be read by any meanwhile.
 */
#ifndef GRANARY_PACKER_PACKER_H
#define GRANARY_PACKER_PACKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "packer/plan.h"
#include "packer/problems.h"

struct pack_options {
	const char *source;      /* the folder */
	const char *out;         /* the packed file's name, or a pattern (out_name.h) */
	enum pack_layout layout;
	bool shuffle;
	uint64_t seed;
	uint64_t shards, shard_size, multiple_of; /* 0: not said */
	const char *compressor;  /* or NULL */
	int level;               /* or -1 */
	const char *hdf5_layout; /* or NULL */
	unsigned threads;        /* 0: as many as is sensible */
	bool decode;
	bool keep_going;         /* problems do not end it */
	bool force;              /* replace what is there */
	bool resume;             /* go on with a set */
	bool has_epoch;          /* no time is later than this one: SOURCE_DATE_EPOCH */
	int64_t epoch;
};

enum pack_phase { PACK_LISTING, PACK_PACKING, PACK_SYNCING };

struct pack_progress {
	_Atomic int phase;
	_Atomic uint64_t found;        /* entries listed */
	_Atomic uint64_t bytes, all_bytes; /* of source files */
	_Atomic uint64_t files, all_files;
	_Atomic uint64_t shards, all_shards;
};

struct pack_shard {
	char *path;        /* owned */
	uint64_t bytes;
	uint64_t members;
	bool kept;         /* it was there: --resume */
	dev_t device;      /* of the file, which others may rename */
	ino_t inode;
};

struct pack_result {
	uint64_t files, directories, symlinks, hardlinks;
	uint64_t labels;   /* members made for labels */
	uint64_t decoded;  /* images */
	uint64_t bytes;    /* of contents */
	uint64_t special;  /* FIFOs, sockets and devices, left out */
	uint64_t no_class, no_name; /* files that can be in no sample, left out */
	uint64_t clamped;  /* times that the format cannot have, and that became others */
	unsigned imbalance; /* of the shards' sizes, in 1/1000 */
	size_t classes;
	bool splits;       /* and they are called train, val and so on */
	VEC(struct pack_shard) shards;
	char *source;      /* all of them, as those who read call it */
	struct problems problems;
};

/*
 * 0, also with problems if options->keep_going is set; or a negative errno and a sentence.
 * Then nothing is left, but for those shards of a set that are complete, and the plan
 * with which --resume goes on. `progress` may be NULL. The caller frees *out with
 * pack_result_free in every case.
 */
int packer_run(const struct pack_options *options, struct pack_progress *progress,
	       struct pack_result *out, struct error *e);
void pack_result_free(struct pack_result *result);

#endif
