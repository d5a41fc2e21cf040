/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load.h: reads a whole file once, into memory that no process can change.
 *
 * For files that are read many times and that another user may overwrite, cut or leave on
 * storage that hangs: a checked copy cannot change.
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
 * file that is nearly all holes: a hole costs its owner nothing, and the reader memory.
 * -ENOMEM for a file of more than half of the available memory.
 */
int source_load(const struct source *source, int *memory, struct error *e);

#endif
