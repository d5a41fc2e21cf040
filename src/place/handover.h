/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * handover.h: hands open sources from granaryfs to the indexer.
 *
 * The launcher opens the packed files, and the files of -o classes= and names=, with
 * rights that the indexer has given up. The indexer inherits the descriptors, and opens
 * none of these by name. A memfd lists them, and the places for the index. Both programs
 * are of one version; the list is private to them.
 *
 * Each record of the list ends with a NUL, so that paths may contain anything:
 *
 *	granary sources 1
 *	place PATH              where an index may be, the best first; none or more
 *	source DESCRIPTOR PATH  one or more
 *	part DESCRIPTOR PATH    behind its source: a part of that (source/parts.h)
 *	unpack DESCRIPTOR PATH  behind its source: the file that it is unpacked to
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
 * In a child that is about to run the indexer: closes all descriptors on exec, except
 * standard streams, sources, maps, `list` and `memory`: the caller's others may not be
 * for the indexer's user. 0 or a negative errno.
 */
int handover_keep(const struct index_wish *wish, int list, int memory);

/*
 * In the indexer: the sources (the caller closes them) and the wish (the caller
 * frees it, before them, and wish->unpack_to). `number` is the list's descriptor, as text;
 * it is closed.
 */
int handover_read(const char *number, const struct dataset_config *config,
		  struct source_set *sources, struct index_wish *wish, struct error *e);

#endif
