/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * adopt.h: uses the index of packed files that were copied, and so have another time of
 * change.
 */
#ifndef GRANARY_TOOL_ADOPT_H
#define GRANARY_TOOL_ADOPT_H

#include <stdbool.h>

#include "build/image.h"
#include "place/find.h"

/*
 * Finds an index to adopt, before one is made. If that index has checksums, the wish asks
 * for them too. Sets wish->quiet: why other indexes do not fit is not logged again.
 */
bool adopt_find(struct index_wish *wish);

/*
 * Loads the index to adopt, which the caller closes. *place is its path, and lives as
 * long as the wish. NULL: there is none, or it is damaged.
 */
struct index *adopt_load(const struct index_wish *wish, const char **place);

/*
 * Compares the index `old`, at `place`, with `image`, made just now of the packed files,
 * with checksums if `old` has some. True: both are of the same files. If not, the log
 * says what differs. Only `image` can be used: `old` records the old time of change.
 */
bool adopt_holds(const struct index_wish *wish, const struct image *image,
		 const struct index *old, const char *place);

#endif
