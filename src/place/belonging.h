/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * belonging.h: is an index that of these packed files, or of others that look the same?
 *
 * Two archives may have the same size and time, and begin and end alike, and hold other
 * names in between. Whoever may write to a folder can give the index of one the name that
 * belongs to the other's, though not write an index that is accepted. So an index is taken
 * for what its name says only of files with the inode numbers that it was made of. For
 * others, a copy say, the folder has to vouch: nobody may write to it but those who may
 * write an index.
 */
#ifndef GRANARY_PLACE_BELONGING_H
#define GRANARY_PLACE_BELONGING_H

#include "place/find.h"

/*
 * 0 where an index that is of this wish was made of these very files, whatever they are
 * called now, or lies where nobody else may put one; -EXDEV and a reason otherwise. Where
 * inode numbers are not known the files' names decide. `file`: where the index lies, NULL
 * for one that was made in memory.
 */
int belonging_check(const struct index_wish *wish, const struct card *card,
		    const struct index_file *file, struct error *e);

#endif
