/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * make_index.h: makes and saves an index, once for all processes that want it.
 */
#ifndef GRANARY_TOOL_MAKE_INDEX_H
#define GRANARY_TOOL_MAKE_INDEX_H

#include <stdbool.h>

#include "granary.h"
#include "place/find.h"

/*
 * Makes the index in a child, or waits for another process that is making it (not with
 * --force): an exit status, the error printed. With wish->checksums every file is read;
 * an index that lacks only these is extended. With --adopt the existing index is compared
 * with the new one.
 */
int make_index(const struct request *request, const struct index_wish *wish);

/* Makes the index in memory, even if one exists. The caller closes it. */
int make_index_in_memory(const struct request *request, const struct index_wish *wish,
			 struct index **out, struct error *e);

/* --adopt. */
enum { LETTER_ADOPT = 2 };

/* Adopted: made anew, and equal to the index that existed (adopt.h). */
enum index_origin { INDEX_FOUND, INDEX_BUILT, INDEX_ADOPTED };

/* Prints the path of the index. */
void print_index_report(const struct request *request, const char *path,
			enum index_origin origin);

#endif
