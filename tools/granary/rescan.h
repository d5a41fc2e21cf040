/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rescan.h: scans the packed files again, and compares an index with the result.
 *
 * Checksums cover contents only. The headers between them (names, sizes, offsets) are
 * what the index was made from, and a mount never reads them again.
 */
#ifndef GRANARY_TOOL_RESCAN_H
#define GRANARY_TOOL_RESCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "granary.h"
#include "mismatches.h"
#include "place/find.h"

/*
 * Each difference is a finding, and so is each packed file that cannot be scanned.
 * `skip`, by source, marks files that are not scanned; then, or if `index` is NULL, no name
 * is compared. 0, or a negative errno and *e where the scan could not be done.
 */
int rescan(const struct request *request, const struct index_wish *wish,
	   const struct index *index, const bool *skip, struct mismatches *findings,
	   struct error *e);

/*
 * Do two indexes have the same files: names, kinds, sizes, places in the packed files,
 * and checksums where both have some? Attributes are not compared, for some come from the
 * packed file. False: *what has the difference and `path` its path.
 */
bool rescan_same(const struct index *had, const struct index *has, char *path, size_t size,
		 const char **what);

#endif
