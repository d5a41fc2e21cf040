/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_access.h: the permissions of an index. */
#ifndef GRANARY_TOOL_INDEX_ACCESS_H
#define GRANARY_TOOL_INDEX_ACCESS_H

#include "build/image.h"
#include "source/source_set.h"

/*
 * Users who may read every packed file may read the index: by the modes of the files, and
 * by those of the directories above files that do not lie beside the first.
 */
struct image_access index_access(const struct source_set *sources);

#endif
