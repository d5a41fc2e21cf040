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

#include "dataset/find.h"
#include "findings.h"
#include "granary.h"

/*
 * What differs is a finding, and so is each packed file that cannot be scanned any more.
 * `skip`, one a source, names those that are not looked at; where there is one, no name
 * is compared. 0, or a negative errno and a sentence where it could not be done.
 */
int rescan(const struct request *request, const struct index_wish *wish,
	   const struct index *index, const bool *skip, struct findings *findings,
	   struct error *e);

#endif
