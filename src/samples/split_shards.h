/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split_shards.h: files that are a split of a dataset each, by their names (names/split_words.h).
 *
 * Threads: one thread at a time.
 */
#ifndef GRANARY_SAMPLES_SPLIT_SHARDS_H
#define GRANARY_SAMPLES_SPLIT_SHARDS_H

#include <stdbool.h>
#include <stddef.h>

#include "build/entries.h"
#include "format/format.h"
#include "source/source_set.h"

/* Do the names of these files say more than one? */
bool splits_are_several(const struct source_set *sources);

/*
 * Puts what a file holds below the directory of its split, if it is in none that is
 * called as a split. 0 or -ENOMEM; then the log can only be freed.
 */
int splits_add_directory(struct entries *entries, const char *split);

/* Among files of several splits, those that are of none. */
struct unsplit_files {
	const char *with, *split; /* a file that is one of them */
	const char *first;        /* a file whose samples lie beside the splits */
	size_t count;
};

/* Looks at a file that has been scanned, before its samples are applied. */
void splits_check(struct unsplit_files *strays, const struct scan *scan);

/* Adds a finding if there are any. */
void splits_report(const struct unsplit_files *strays, struct findings *findings);

#endif
