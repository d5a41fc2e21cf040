/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stale_index.h: finds indexes with checksums that no longer fit their packed files.
 *
 * Only their checksums can tell whether a packed file was changed or damaged. So such an
 * index is replaced by one without checksums only if the user says so. If size and time
 * are as recorded, but the first or last bytes are not, the file is damaged, or was
 * changed by a user who hid that: then no index is made unasked.
 */
#ifndef GRANARY_PLACE_STALE_INDEX_H
#define GRANARY_PLACE_STALE_INDEX_H

#include <stdbool.h>

#include "place/find.h"

/*
 * An index with checksums of these files that fits but for what they are now, unless there is one that
 * fits: with checksums anywhere, or at a place before it. 0, the index (the caller closes
 * it), its path, which lives as long as the wish, and why it does not fit; or -ENOENT.
 * `of_others`: also one that may be of other files that look the same
 * (place/provenance.h).
 */
int stale_index_find(const struct index_wish *wish, bool of_others,
		     struct index_file **out, const char **path, struct error *why);

/*
 * Would an index of these files replace one with checksums, of these or of other files
 * (place/provenance.h)? Then its path, and why it does not fit.
 */
bool stale_index_would_be_replaced(const struct index_wish *wish, const char **path,
				   struct error *why);

/* Has this source its recorded size and time, and other bytes? */
bool stale_index_shows_damage(const struct index_wish *wish, const struct card *card,
			      uint32_t source);

/* 0, or -EBADMSG and *e: a packed file is damaged, by the index of stale_index_find. */
int stale_index_check(const struct index_wish *wish, struct error *e);

/*
 * Finds an index with checksums beside the packed files that covers the first of them,
 * for example that of a whole set. Its path, which the caller frees; or NULL.
 */
char *stale_index_find_set(const struct index_wish *wish);

/* Is there a sound index with checksums at this path, fitting or not? */
bool stale_index_is_at(const char *path);

#endif
