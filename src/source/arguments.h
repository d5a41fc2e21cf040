/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arguments.h: the packed files that a command line names, one after the other.
 *
 * An argument is a literal path or a shard pattern in brace notation (base/brace.h). A
 * file that exists under the literal name wins over the pattern. All patterns are counted
 * before the first name is made, and each name is made on request: a short pattern may
 * stand for millions of names. A directory that Hugging Face's save_to_disk() wrote
 * stands for its files, and dataset.arrow also for the indices.arrow beside it
 * (source/saved_directory.h); so does one of MDS shards, or its index.json, for the shards
 * (source/shard_list.h). Names of indexes (.gidx) among others are left out.
 *
 * Not for concurrent use.
 */
#ifndef GRANARY_SOURCE_ARGUMENTS_H
#define GRANARY_SOURCE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "source/source.h"

struct arguments;

/*
 * Parses `n` arguments, which must outlive *out. An error if there is no argument, if a
 * pattern is refused (brace_parse), or if there are more files than this process may ever
 * have open.
 */
int arguments_parse(char *const *texts, size_t n, struct arguments **out, struct error *e);
void arguments_free(struct arguments *arguments);

/* For CLEANUP (base/cleanup.h). */
static inline void cleanup_arguments(struct arguments **arguments)
{
	arguments_free(*arguments);
}

/* The number of files: at least one. */
uint32_t arguments_count(const struct arguments *arguments);

/* The path of file `i`, below the count. The caller frees it; NULL: no memory. */
char *arguments_path(const struct arguments *arguments, uint32_t i);

/*
 * Opens file `i`, whose path that is: as source_open. A file that another file names has to
 * lie below that one's directory, and to have the size that it says (-EBADMSG).
 */
int arguments_open(const struct arguments *arguments, uint32_t i, const char *path,
		   struct source **out, struct error *e);

#endif
