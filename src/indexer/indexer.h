/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * indexer.h: makes an index of packed files.
 *
 * A format module scans each shard, and each packed file inside one, in a pool of
 * threads; more threads than processors, because a scan mostly waits for storage. Entries
 * are applied in the order of the shards, so the result does not depend on timing.
 *
 * Threads: one calls indexer_run; any may read the progress meanwhile.
 */
#ifndef GRANARY_INDEXER_INDEXER_H
#define GRANARY_INDEXER_INDEXER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "build/build.h"
#include "place/format_options.h"
#include "source/source_set.h"
#include "view/view.h"

/* A file of names of samples or classes (maps/name_map.h). */
struct indexer_map {
	const void *bytes; /* NULL: no file */
	size_t size;
	const char *path;  /* for messages */
};

struct indexer_config {
	enum duplicates duplicates;
	bool nested;         /* open packed files inside packed files, */
	bool nested_npz;     /* and .npz */
	bool compares;       /* checksums that a format has of contents, which are read */
	enum view_kind view; /* how samples get their paths */
	struct indexer_map classes;      /* what the labels are called */
	const struct indexer_map *names; /* what the samples are called */
	size_t name_count;
	uint64_t base;       /* where in each source the packed file begins */
	struct format_options formats;
	bool unsaved;        /* no later process compares the sources: no samples of them */
	unsigned threads;    /* 0: as many as is sensible */
	const char *options; /* for the index: what shaped the tree */
};

struct indexer_progress {
	_Atomic uint64_t total;    /* bytes of all windows that are known so far */
	_Atomic uint64_t position; /* bytes of them that were scanned */
	_Atomic uint64_t entries;
	_Atomic uint64_t shards;
	_Atomic uint64_t done;     /* shards */
};

/*
 * Scans the sources and seals the image, which the caller frees. The error is that of the
 * first shard, in order, that cannot be read. A nested packed file that cannot be read is
 * a warning, and shown as a file. `progress` may be NULL.
 */
int indexer_run(const struct source_set *sources, const struct indexer_config *config,
		struct indexer_progress *progress, struct image *image,
		struct error *e);

#endif
