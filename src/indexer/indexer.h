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
	bool nested;         /* open packed files inside packed files */
	enum view_kind view; /* how samples get their paths */
	const char *labels;  /* the array of labels; NULL: found by its name */
	struct indexer_map classes;      /* names of the labels */
	const struct indexer_map *names; /* names of the samples */
	size_t name_count;
	bool wds2idx;        /* read lists of wds2idx beside tars */
	bool hide_sidecars;  /* in the class view: files beside an image */
	uint64_t base;       /* of the packed file in each source */
	unsigned threads;    /* 0: by the number of processors */
	const char *options; /* recorded in the index */
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
