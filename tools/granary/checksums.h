/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checksums.h: an index in the making gets a checksum of each of its files.
 */
#ifndef GRANARY_TOOL_CHECKSUMS_H
#define GRANARY_TOOL_CHECKSUMS_H

#include <stdbool.h>

#include "base/error.h"
#include "build/image.h"
#include "index/index.h"
#include "source/source_set.h"

/*
 * Reads every file of the packed files, with several threads, and shows how far it is,
 * unless `quiet`. Checksums that there are must be right; they are made once more, with
 * those of blocks.
 * `index` is what `image` has been copied from, or NULL: then it is written to memory
 * first. 0, or a negative errno and a sentence: the first file that cannot be read.
 */
int checksums_add(const struct source_set *sources, struct index *index,
		  struct image *image, bool quiet, struct error *e);

/* An index in the making, as one in memory that can be read; the caller closes it. */
int checksums_open(const struct image *image, struct index **out, struct error *e);

/* For struct progress: `context` is a struct survey_progress. */
struct progress;
void checksums_look(struct progress *p, const void *context);

/*
 * Why a file cannot be read, as part of a sentence, "checksum mismatch (a.tar at byte
 * 512)"; returns `out`.
 */
struct read_fault;
enum { FAULT_TEXT_BYTES = 5000 };
char *fault_text(const struct read_fault *fault, char *out);

#endif
