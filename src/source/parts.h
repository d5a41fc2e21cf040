/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.h: one source of several files, which are the parts of a file that was cut.
 *
 * Its bytes are those of the parts, one behind the other. Each part is a source of its
 * own: it is opened, retried and handed over alone, and a fault names it. The identity is
 * of all: each one's size, beginning, end and samples, and the latest time of change. The
 * path and the place are the first part's.
 *
 * Threads: as source.h; parts are added by one thread, before the first read.
 */
#ifndef GRANARY_SOURCE_PARTS_H
#define GRANARY_SOURCE_PARTS_H

#include <stdint.h>

#include "base/error.h"

struct source;

/*
 * Adds a part behind `*whole`, which becomes a source of parts if it is none, and owns the
 * part from now on. An error, where the caller still owns both: another owner than the
 * first part's, since an owner of all packed files may make their index.
 */
int parts_add(struct source **whole, struct source *part, struct error *e);

/* The parts, 1 or more; and one of them. Of any other source: 1, itself. */
uint32_t source_part_count(const struct source *source);
const struct source *source_part(const struct source *source, uint32_t i);

/* The first byte of a part, in the source. */
uint64_t source_part_start(const struct source *source, uint32_t i);

/* The part that has the byte *at, which becomes an offset in that. */
const struct source *source_part_at(const struct source *source, uint64_t *at);

/* The part that was opened by this path; NULL: none. */
const struct source *source_part_by_path(const struct source *source, const char *path);

/*
 * Says in the sentence of a source that is damaged, truncated or has no end what the parts may have to do with
 * it: one of them is shorter than the others, or one before or behind them is not there.
 * Nothing where the source is no part.
 */
void parts_explain(const struct source *source, struct error *e);

#endif
