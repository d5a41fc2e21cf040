/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_place.h: where an index is written, with whose rights.
 *
 * An index lies beside its packed file, or where the user's cache or the user's own word
 * is (place/locate.h). Each of these places is opened once, when it is first asked for, and
 * keeps the folder that it then was: whatever is done to a path meanwhile, the index comes
 * to lie beside the file that was opened, or nowhere.
 */
#ifndef GRANARY_PLACE_INDEX_PLACE_H
#define GRANARY_PLACE_INDEX_PLACE_H

#include "os/place.h"
#include "place/find.h"

/* The places of a wish, which outlives them. Begins as { .wish = wish }. */
struct index_spots {
	const struct index_wish *wish;
	struct place *opened[LOCATE_MAX_PLACES]; /* owned */
};

/*
 * The i'th place of the wish: 0 and *out, which lives as long as the spots; or a negative
 * errno and a sentence. Folders of a cache are made. Root acts there as the folder's owner,
 * if that is one whose index would be trusted, and else as itself.
 */
int index_spot(struct index_spots *spots, unsigned i, const struct place **out,
	       struct error *e);
void index_spots_close(struct index_spots *spots);

#endif
