/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * present.h: the packed files of a set of which some do not exist.
 */
#ifndef GRANARY_TOOL_PRESENT_H
#define GRANARY_TOOL_PRESENT_H

#include <stdbool.h>

#include "source/source_set.h"

/*
 * Opens them as source_set_open does; what does not exist is said, and is an empty source,
 * so that the others keep their numbers, and the index of the set is theirs. *missing,
 * which the caller frees, says which. -ENOENT where none exists.
 */
int present_open(char *const *texts, size_t count, struct source_set *out,
		 bool **missing, struct error *e);

#endif
