/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * part_files.h: which of some open files are the parts of one, by their names
 * (source/part_names.h) and their beginnings. Private to source/.
 *
 * Files that begin alike are whole, whatever their names count: a part does not begin as
 * the first one does. Two tars may do that by chance; the first is whole if it ends in
 * zeros.
 *
 * Threads: any.
 */
#ifndef GRANARY_SOURCE_PART_FILES_H
#define GRANARY_SOURCE_PART_FILES_H

#include "source/source_set.h"

/*
 * Joins the parts among the sources of a set, which are in the order of the command line.
 * Of a file whose first part alone is there, the others are looked for beside it, and
 * opened. A file that an index lists (source_is_listed) is no part, whatever its name. 0, or a
 * negative errno and *e: a part is missing, or cannot be read.
 */
int part_files_join(struct source_set *set, struct error *e);

#endif
