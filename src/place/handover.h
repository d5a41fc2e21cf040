/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handover.h: open sources, on their way from granaryfs to the indexer.
 *
 * The launcher opens the packed files with rights that the indexer has given up.
 * So that gets their descriptors, and never opens them by their names: it inherits
 * them, and a memfd that says which descriptor is which file, and where the
 * index may lie. So it is with the files that -o classes= and names= name. Both programs are of one version; the list is private to them.
 *
 * The list is of records, each ended by a NUL, so that paths may hold anything:
 *
 *	granary sources 1
 *	place PATH              where an index may be, the best first; none or more
 *	source DESCRIPTOR PATH  one or more
 *	classes DESCRIPTOR PATH the file of -o classes=, if there is one
 *	names DESCRIPTOR PATH   those of -o names=; none or more
 *	end
 */
#ifndef GRANARY_PLACE_HANDOVER_H
#define GRANARY_PLACE_HANDOVER_H

#include "base/error.h"
#include "place/config.h"
#include "place/find.h"
#include "source/source_set.h"

/* Writes the list into a new memfd, which the caller closes. */
int handover_write(const struct index_wish *wish, int *fd, struct error *e);

/*
 * In a child that is about to run the indexer: of all descriptors but the standard
 * streams, the sources', the maps', `list` and `memory` are kept open, and no other: what the
 * launcher's caller had open may be nothing for the indexer's user. 0 or a negative
 * errno.
 */
int handover_keep(const struct index_wish *wish, int list, int memory);

/*
 * In the indexer: the sources (the caller closes them) and the wish (the caller
 * frees it, before them). `number` is the list's descriptor, as text; it is closed.
 */
int handover_read(const char *number, const struct dataset_config *config,
		  struct source_set *sources, struct index_wish *wish, struct error *e);

#endif
