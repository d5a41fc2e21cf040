/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_place.h: the places where an index is written, and the rights to do so.
 *
 * place/locate.h lists the places. Each is opened once, at its first use, and keeps its
 * directory: even if a path changes, the index is written beside the file that was
 * opened, or nowhere.
 */
#ifndef GRANARY_PLACE_INDEX_PLACE_H
#define GRANARY_PLACE_INDEX_PLACE_H

#include "os/place.h"
#include "place/find.h"

/* The open places of a wish, which must outlive them. Initialise: { .wish = wish }. */
struct opened_places {
	const struct index_wish *wish;
	struct place *opened[LOCATE_MAX_PLACES]; /* owned */
};

/*
 * Opens place `i` of the wish: 0 and *out, valid as long as the spots, or a negative
 * errno and *e. Makes directories of a cache. Root acts there as the directory's owner,
 * if an index of that user would be trusted, and else as root.
 */
int opened_places_get(struct opened_places *spots, unsigned i, const struct place **out,
		      struct error *e);
void opened_places_close(struct opened_places *spots);

#endif
