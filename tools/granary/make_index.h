/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * make_index.h: an index is made and saved, once for all who want it now.
 */
#ifndef GRANARY_TOOL_MAKE_INDEX_H
#define GRANARY_TOOL_MAKE_INDEX_H

#include <stdbool.h>

#include "granary.h"
#include "place/find.h"

/*
 * Makes the index that is wished for, in a process of its own, or waits for another
 * process that is at it (not with --force): an exit status, the error printed. With
 * wish->checksums every file is read; where one fits but for those, it is extended. With
 * --adopt the one that is there is held against it.
 */
int make_index(const struct request *request, const struct index_wish *wish);

/* Makes it here, in memory, whatever there is. The caller closes it. */
int make_index_in_memory(const struct request *request, const struct index_wish *wish,
			 struct index **out, struct error *e);

/* --adopt. */
enum { LETTER_ADOPT = 2 };

/* What became of it. Adopted: made anew, and found to be of the same files (adopt.h). */
enum index_origin { INDEX_FOUND, INDEX_BUILT, INDEX_ADOPTED };

/* Where it is, on standard output. */
void say_index(const struct request *request, const char *path, enum index_origin origin);

#endif
