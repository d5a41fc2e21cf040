/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output.h: a file that gets its name when it is complete.
 *
 * It is written under a temporary name in the same folder (".NAME.part"), synced, and
 * renamed: under its name there is the old file, the new one, or none, at every moment,
 * after kill -9 and after a power cut too. What is begun and not committed is removed,
 * also where INT, TERM or HUP ends the process (output_catch_signals). After kill -9 the
 * temporary file is left; the next run that makes the same file takes it over. Of
 * two that make the same file at the same time one is refused, where the filesystem has
 * locks.
 *
 * Threads: one process's outputs are begun and ended by one thread.
 */
#ifndef GRANARY_PACKER_OUTPUT_H
#define GRANARY_PACKER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct output;

/* No process has more at the same time: a packed file and what lies beside it. */
enum { OUTPUT_MOST = 8 };

/*
 * Begins the file `path`. -EEXIST if it is there and `replace` is not set. The caller
 * commits or drops what it gets.
 */
int output_begin(const char *path, bool replace, struct output **out, struct error *e);

/* Open for reading and writing; empty at first; closed by commit and drop. */
int output_fd(const struct output *output);

/*
 * So many more bytes were written: the kernel begins with the storage before it has to,
 * so that the sync at the end finds little to do.
 */
void output_advance(struct output *output, uint64_t bytes);

/* Syncs it and gives it its name. Frees it whatever is returned. */
int output_commit(struct output *output, struct error *e);

/* Removes it. NULL is allowed. */
void output_drop(struct output *output);

/* A small file at once, replacing what is there. */
int output_write(const char *path, const void *bytes, size_t size, struct error *e);

/*
 * The sentence for what writing `path` failed with; of a full disk or quota, how many
 * bytes have been written and that more are needed. Returns -errnum.
 */
int output_error(const char *path, int errnum, uint64_t written, struct error *e);

/*
 * On: from now on INT, TERM and HUP, unless they are ignored, remove what is begun and
 * then end the process, by themselves. Off: they end it as they always do.
 */
void output_catch_signals(bool on);

/*
 * They then also remove `name`, which is of no use before `there` is there. Both live until
 * this is called again; NULL: nothing. One at a time.
 */
void output_remove_unless(const char *name, const char *there);

/* The temporary name of `path`: the caller frees it; NULL: out of memory. */
char *output_temporary(const char *path);

#endif
