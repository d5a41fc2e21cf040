/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stale_index.h: checksums of what packed files held, in an index that fits them no longer.
 *
 * Whether a packed file has been changed or damaged, nothing else can tell. So such an
 * index is replaced by one without checksums only where the user says so. And where size
 * and time of a packed file are what they were, but not its first or last bytes, that is
 * damage, or somebody who covered his traces: then nobody makes another one by himself.
 */
#ifndef GRANARY_PLACE_STALE_INDEX_H
#define GRANARY_PLACE_STALE_INDEX_H

#include <stdbool.h>

#include "place/find.h"

/*
 * An index with checksums of these files that fits but for what they are now, unless there is one that
 * fits: with checksums anywhere, or at a place before it. 0, the index (the caller closes
 * it), its path, which lives as long as the wish, and why it does not fit; or -ENOENT.
 * `of_others`: also one that may be of other files that look the same (place/belonging.h).
 */
int evidence_find(const struct index_wish *wish, bool of_others, struct index_file **out,
		  const char **path, struct error *why);

/*
 * Is there one that would be replaced by an index of these files, be it of these or of others
 * (place/belonging.h)? Then its path, and why it does not fit.
 */
bool evidence_is_replaced(const struct index_wish *wish, const char **path,
			  struct error *why);

/* Has this source the size and time that it had, and other bytes? */
bool evidence_of_damage(const struct index_wish *wish, const struct card *card,
			uint32_t source);

/* 0, or -EBADMSG and a sentence: a packed file is damaged, by what evidence_find found. */
int evidence_check(const struct index_wish *wish, struct error *e);

/*
 * Is there an index with checksums beside the packed files that knows the first of them, of
 * a set that it belongs to, say? Its path, which the caller frees; or NULL.
 */
char *evidence_of_set(const struct index_wish *wish);

/* Is there a sound index with checksums at this place, whether it fits or not? */
bool evidence_at(const char *path);

#endif
