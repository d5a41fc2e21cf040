/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packer.h: packs a source tree: a directory, or another input (input.h).
 *
 * Scan (scan.h), plan (plan.h), then shard by shard: readers (read_ring.h) read the
 * contents in the plan's order, a writer (writer.h) makes the format, and the file gets
 * its name when it is complete (output.h).
 *
 * The same tree and options give the same bytes: these do not depend on a clock, on the
 * order in which a filesystem lists names, or on the number of threads.
 *
 * Threads: packer_run is called by one; any thread may read the progress meanwhile.
 */
#ifndef GRANARY_PACKER_PACKER_H
#define GRANARY_PACKER_PACKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "packer/input.h"
#include "packer/plan.h"
#include "packer/problems.h"

struct pack_options {
	const char *source;      /* the directory; of an input its name */
	const struct pack_input *input; /* NULL: the directory is packed */
	const char *out;         /* the packed file's name, or a pattern (out_name.h) */
	enum pack_layout layout;
	bool shuffle;
	uint64_t seed;
	uint64_t shards, shard_size, multiple_of; /* 0: not given */
	const char *compressor;  /* or NULL */
	int level;               /* or -1 */
	const char *hdf5_layout; /* or NULL */
	unsigned threads;        /* 0: chosen by the number of processors */
	bool decode;
	bool keep_going;         /* problems do not end the run */
	bool force;              /* replace existing files */
	bool resume;             /* continue an interrupted set */
	bool has_epoch;          /* `epoch` is set: SOURCE_DATE_EPOCH, the latest time */
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
	bool kept;         /* existed before: --resume */
	dev_t device;      /* of the file, whatever its name later */
	ino_t inode;
};

struct pack_result {
	uint64_t files, directories, symlinks, hardlinks;
	uint64_t labels;   /* members made for labels */
	uint64_t decoded;  /* images */
	uint64_t bytes;    /* of contents */
	uint64_t damaged;  /* pieces of files whose stored bytes are damaged */
	uint64_t special;  /* FIFOs, sockets and devices, left out */
	uint64_t no_class, no_name; /* files that fit no sample, left out */
	uint64_t clamped;  /* times changed to ones that the format has */
	unsigned imbalance; /* of the shards' sizes, in 1/1000 */
	size_t classes;
	bool splits;       /* the classes are called train, val and so on */
	VEC(struct pack_shard) shards;
	char *source;      /* the name by which they are mounted; owned */
	struct problems problems;
};

/*
 * 0, also with problems if options->keep_going is set; or a negative errno and a
 * sentence. After an error only the complete shards of a set remain, with the plan that
 * --resume needs. `progress` may be NULL. The caller frees *out with pack_result_free in
 * every case.
 */
int packer_run(const struct pack_options *options, struct pack_progress *progress,
	       struct pack_result *out, struct error *e);
void pack_result_free(struct pack_result *result);

#endif
