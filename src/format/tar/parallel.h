/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parallel.h: one large tar, walked from several places at once. Private to format/tar/.
 *
 * A tar cannot be entered in the middle: what looks like a header may be data. So
 * what is found there is a guess, and walked by a thread into a log of its own. It
 * counts only if the walk from the front comes to exactly that place; then members
 * follow from there as they would have anyway. Otherwise it is thrown away.
 *
 * Threads: called by one thread.
 */
#ifndef GRANARY_FORMAT_TAR_PARALLEL_H
#define GRANARY_FORMAT_TAR_PARALLEL_H

#include "format/tar/plain.h"

struct tar_parallel;

/*
 * Begins, if the window is worth it and there are threads: otherwise NULL, with which
 * the others do nothing.
 */
struct tar_parallel *tar_parallel_start(struct scan *scan,
					const struct tar_window *window);

/* The first guess at or behind `position`, or UINT64_MAX. */
uint64_t tar_parallel_next(const struct tar_parallel *ahead, uint64_t position);

/*
 * Where a guess is at run->end: waits for it, puts its log behind the scan's, and
 * continues the run behind its members.
 */
void tar_parallel_join(struct tar_parallel *ahead, struct scan *scan,
		       struct tar_run *run);

/* Throws away what was not taken. */
void tar_parallel_end(struct tar_parallel *ahead, struct scan *scan);

#endif
