/* SPDX-License-Identifier: GPL-3.0-or-later */
/* directory.h: the error for a directory that was named as a source. */
#ifndef GRANARY_SOURCE_DIRECTORY_H
#define GRANARY_SOURCE_DIRECTORY_H

#include "base/error.h"

/*
 * -EISDIR, and the kind of the directory by the names in it, with the remedy: how to
 * mount its packed files, which library reads such a dataset, or how to pack the
 * directory. The table is directories.def. Threads: any.
 */
int directory_refuse(const char *path, struct error *e);

#endif
