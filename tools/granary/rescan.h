/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rescan.h: the packed files are scanned once more, and an index that is there is held
 * against that.
 *
 * Checksums are of contents. The headers between them, which say names, sizes and where
 * contents lie, are what an index was made from, and nobody reads them again.
 */
#ifndef GRANARY_TOOL_RESCAN_H
#define GRANARY_TOOL_RESCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "granary.h"
#include "mismatches.h"
#include "place/find.h"

/*
 * What differs is a finding, and so is each packed file that cannot be scanned any more.
 * `skip`, one a source, names those that are not looked at; where there is one, no name
 * is compared. 0, or a negative errno and a sentence where it could not be done.
 */
int rescan(const struct request *request, const struct index_wish *wish,
	   const struct index *index, const bool *skip, struct findings *findings,
	   struct error *e);

/*
 * Are two indexes of the same files: the names, kinds, sizes, places in the packed files,
 * and checksums where both have some? Attributes are not compared: some are the packed
 * file's own. If not, what differs is in *what, and its path in `path`, and false.
 */
bool rescan_same(const struct index *had, const struct index *has, char *path, size_t size,
		 const char **what);

#endif
