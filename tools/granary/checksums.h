/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checksums.h: adds a checksum of each file to an index that is being made.
 */
#ifndef GRANARY_TOOL_CHECKSUMS_H
#define GRANARY_TOOL_CHECKSUMS_H

#include <stdbool.h>

#include "base/error.h"
#include "build/image.h"
#include "index/index.h"
#include "source/source_set.h"

/*
 * Reads all packed files in several threads, and shows progress unless `quiet`. Checksums
 * that the index has are compared, and made again with those of blocks. `index` is the
 * source of `image`; NULL: `image` is written to memory first. 0, or a negative errno and
 * *e: the first file that cannot be read.
 */
int checksums_add(const struct source_set *sources, struct index *index,
		  struct image *image, bool quiet, struct error *e);

/* Opens an index that is being made, as one in memory. The caller closes it. */
int checksums_open(const struct image *image, struct index **out, struct error *e);

/* For struct progress: `context` is a struct survey_progress. */
struct progress;
void checksums_update_progress(struct progress *p, const void *context);

#endif
