/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_indexer.h: runs `granary index` to make an index.
 *
 * The indexer parses packed files, with libraries that were not made for hostile input.
 * So it is another process, which only gives back an index.
 */
#ifndef GRANARY_PLACE_RUN_INDEXER_H
#define GRANARY_PLACE_RUN_INDEXER_H

#include "base/error.h"
#include "os/rights.h"
#include "place/config.h"
#include "place/find.h"

/*
 * Runs the indexer and waits for it. The indexer gets the open sources, the places for
 * the index, and the standard streams. It runs as the user of `rights` (NULL: as this
 * process), without capabilities or a way back (os/rights.h). The index is then at one of
 * its places. If none could be written, it is in *memory, a sealed memfd that the caller
 * closes (otherwise -1). The indexer prints its own errors: then e->text is empty and
 * e->status is its exit status.
 *
 * With wish->unpack_to the process makes no index: it unpacks those sources into these files
 * that an index cannot be made of otherwise, and leaves the other files empty.
 */
int run_indexer_process(const struct dataset_config *config, const struct rights *rights,
			const struct index_wish *wish, int *memory, struct error *e);

#endif
