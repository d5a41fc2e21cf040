/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * indexer.h: from packed files to an index.
 *
 * Every shard, and every packed file inside one, is scanned by a format module
 * in a pool of threads; more threads than processors, because most of a scan
 * is waiting for storage. The entries are applied in the order of the shards,
 * so that the result does not depend on timing.
 *
 * Threads: indexer_run is called by one thread; the progress may be read by
 * any other meanwhile.
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

/* A file that says what samples or classes are called (maps/name_map.h). */
struct indexer_map {
	const void *bytes; /* NULL: there is none */
	size_t size;
	const char *path;  /* for messages */
};

struct indexer_config {
	enum duplicates duplicates;
	bool nested;         /* look into packed files inside packed files */
	enum view_kind view; /* how samples get their paths */
	struct indexer_map classes;      /* what the labels are called */
	const struct indexer_map *names; /* what the samples are called */
	size_t name_count;
	uint64_t base;       /* where in each source the packed file begins */
	struct format_options formats;
	unsigned threads;    /* 0: as many as is sensible */
	const char *options; /* for the index: what shaped the tree */
};

struct indexer_progress {
	_Atomic uint64_t total;    /* bytes of all windows known so far */
	_Atomic uint64_t position; /* bytes of them that have been passed */
	_Atomic uint64_t entries;
	_Atomic uint64_t shards;
	_Atomic uint64_t done;     /* shards */
};

/*
 * Scans and seals. The first shard (in order) that cannot be read is the
 * error; a packed file inside one that cannot be read is a warning, and is
 * shown as the file that it is. `progress` may be NULL. The caller frees the
 * image.
 */
int indexer_run(const struct source_set *sources, const struct indexer_config *config,
		struct indexer_progress *progress, struct image *image,
		struct error *e);

#endif
