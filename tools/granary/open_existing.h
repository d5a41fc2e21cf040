/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * open_existing.h: opens those packed files of a set that exist.
 */
#ifndef GRANARY_TOOL_OPEN_EXISTING_H
#define GRANARY_TOOL_OPEN_EXISTING_H

#include <stdbool.h>

#include "source/source_set.h"

/*
 * As source_set_open. A file that does not exist is reported, and becomes an empty
 * source, so that the others keep their numbers and fit the set's index. *missing, which
 * the caller frees, marks these. -ENOENT where none exists.
 */
int open_existing(char *const *texts, size_t count, struct source_set *out,
		  bool **missing, struct error *e);

#endif
