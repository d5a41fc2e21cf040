/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run_indexer.h: asks `granary index` for an index.
 *
 * The indexer parses what strangers wrote, with libraries that were not made
 * for strangers: so it is another process, and only an index comes back.
 */
#ifndef GRANARY_PLACE_RUN_INDEXER_H
#define GRANARY_PLACE_RUN_INDEXER_H

#include "base/error.h"
#include "os/rights.h"
#include "place/config.h"
#include "place/find.h"

/*
 * Runs the indexer and waits for it. It gets the sources as they are open here, and
 * the places that an index may lie at; it runs as the user whose rights these are (NULL: as
 * this process does), without a capability or a way back (os/rights.h), and with no other descriptor
 * than the standard streams. The index is then at one of its places;
 * where none could be written it is in *memory, a sealed memfd that the caller
 * closes (otherwise -1). The indexer says itself, on standard error, what is
 * wrong: then e->text is empty and e->status is its exit status.
 */
int request_index(const struct dataset_config *config, const struct rights *rights,
		  const struct index_wish *wish, int *memory, struct error *e);

#endif
