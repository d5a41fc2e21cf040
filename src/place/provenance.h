/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * provenance.h: was an index made of these packed files, or of others that look alike?
 *
 * Two archives may have the same size, time, beginning and end, and different names
 * between. A user with write permission on a directory can give the index of one archive
 * the name of the other's, though not write an index that is accepted. So an index fits
 * files with the recorded inode numbers. For other files, such as a copy, its directory
 * must be closed: only users who may write an index may write to it.
 */
#ifndef GRANARY_PLACE_PROVENANCE_H
#define GRANARY_PLACE_PROVENANCE_H

#include "place/find.h"

/*
 * 0: the index was made of these very files, whatever their present names, or lies in a
 * closed directory; otherwise -EXDEV and a reason. Without inode numbers the files' names
 * decide. `file`: the index's file; NULL: it was made in memory.
 */
int provenance_check(const struct index_wish *wish, const struct card *card,
		     const struct index_file *file, struct error *e);

#endif
