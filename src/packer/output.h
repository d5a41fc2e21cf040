/*
 * output.h: a file that gets its name when it is complete.
 *
 * It is written under a temporary name in the same folder, synced, and renamed: under
 * its name there is the old file, the new one, or none, at every moment, and also after
 * kill -9. What is begun and not committed is removed, also on INT, TERM and HUP
 * (output_catch_signals); kill -9 leaves the temporary file, which the next run that
 * makes the same file removes.
 *
 * Threads: those of one process that makes outputs are one.
 */
#ifndef GRANARY_PACKER_OUTPUT_H
#define GRANARY_PACKER_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

struct output;

/*
 * Begins the file `path`. -EEXIST if it is there and `replace` is not set. The caller
 * commits or drops what it gets.
 */
int output_begin(const char *path, bool replace, struct output **out, struct error *e);

/* Open for reading and writing; empty at first; closed by commit and drop. */
int output_fd(const struct output *output);

/* Syncs it and gives it its name. Frees it whatever is returned. */
int output_commit(struct output *output, struct error *e);

/* Removes it. NULL is allowed. */
void output_drop(struct output *output);

#endif
