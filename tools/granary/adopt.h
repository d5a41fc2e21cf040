/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * adopt.h: an index of packed files that have been copied, so that they have another time
 * of change.
 */
#ifndef GRANARY_TOOL_ADOPT_H
#define GRANARY_TOOL_ADOPT_H

#include <stdbool.h>

#include "build/image.h"
#include "place/find.h"

/*
 * Before an index is made: is there one that could be adopted? If it has checksums, so will
 * the wish. Why the ones that are there do not fit is not said any more.
 */
bool adopt_find(struct index_wish *wish);

/*
 * The one that could be adopted, all of it, which the caller closes, and its path, which
 * lives as long as the wish. NULL: there is none, or it is damaged.
 */
struct index *adopt_load(const struct index_wish *wish, const char **place);

/*
 * Holds the one that is there, at `place`, against one that was just made of the packed
 * files, with checksums where that has some: are they of the same files? If not, a line in
 * the log says what differs. Only the new one can be used: the old one has the old time.
 */
bool adopt_holds(const struct index_wish *wish, const struct image *image,
		 const struct index *old, const char *place);

#endif
