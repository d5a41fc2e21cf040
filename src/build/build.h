/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.h: builds a sealed tree from entries.
 *
 * The builder applies the logs of the shards in order, makes their paths safe, resolves
 * entries of the same name, and seals the result.
 *
 * Threads: one builder belongs to one thread at a time.
 */
#ifndef GRANARY_BUILD_BUILD_H
#define GRANARY_BUILD_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/identity.h"
#include "build/entries.h"
#include "build/image.h"

struct builder;

/* The file that is shown if two shards have one of the same name. */
enum duplicates { DUPLICATES_ERROR, DUPLICATES_FIRST, DUPLICATES_LAST };

/* Attributes of directories without an entry, including the root. */
struct builder_defaults {
	uint32_t mode, uid, gid;
	int64_t mtime;
	uint32_t mtime_ns;
};

/* A source, as the index records it. */
struct builder_source {
	struct identity identity;
	const char *name;
};

struct findings;

/* `findings` may be NULL. */
struct builder *builder_new(enum duplicates duplicates,
			    const struct builder_defaults *defaults,
			    struct findings *findings);
void builder_free(struct builder *builder);

/*
 * Adds a shard. `label` names it in messages and must outlive the builder. `entries` are
 * freed as they are applied; afterwards they can only be counted and freed. Within a
 * shard the last entry of a name wins; between shards `duplicates` decides. builder_seal
 * resolves links whose target comes later.
 */
int builder_apply(struct builder *builder, struct entries *entries,
		  const char *label, struct error *e);

/* Is there a directory besides the root? */
bool builder_has_directories(const struct builder *builder);

/*
 * Seals the tree into `image`, which the caller frees. `summary` has the texts and
 * left_out; the counts are filled in.
 */
int builder_seal(struct builder *builder, const struct builder_source *sources,
		 uint32_t source_count, const struct index_summary *summary,
		 struct image *image, struct error *e);

#endif
