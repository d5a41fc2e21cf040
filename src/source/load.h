/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load.h: a whole file, read once, into memory that no process can change any more.
 *
 * For files that are read many times and that another user may overwrite, cut or leave on
 * storage that hangs: a copy is checked once, and stays what was checked.
 *
 * Threads: any.
 */
#ifndef GRANARY_SOURCE_LOAD_H
#define GRANARY_SOURCE_LOAD_H

#include "base/error.h"

struct source;

/*
 * Copies all bytes of a source into a memfd, sealed against any change, which the caller
 * closes: 0, or a negative errno and a sentence that names the file. -EBADMSG for a large
 * file that hardly holds a byte: a hole costs its owner nothing, and the reader all of its
 * memory. -ENOMEM for one that would take more than half of what is available.
 */
int source_load(const struct source *source, int *memory, struct error *e);

#endif
