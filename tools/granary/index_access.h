/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_access.h: who may read an index. */
#ifndef GRANARY_TOOL_INDEX_ACCESS_H
#define GRANARY_TOOL_INDEX_ACCESS_H

#include "build/image.h"
#include "source/source_set.h"

/*
 * Whoever may read every packed file may read the index: by their permissions, and by those
 * of the folders above them where they do not lie beside the first.
 */
struct image_access index_access(const struct source_set *sources);

#endif
