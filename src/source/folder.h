/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.h: the sentence on a directory that was named as a source.
 */
#ifndef GRANARY_SOURCE_FOLDER_H
#define GRANARY_SOURCE_FOLDER_H

#include "base/error.h"

/*
 * -EISDIR, and what is in the directory, as far as its names tell, with the remedy: how to
 * mount the packed files in it, what reads the dataset that it is, or how to pack it. The
 * table is folders.def. Any thread may call.
 */
int folder_refuse(const char *path, struct error *e);

#endif
