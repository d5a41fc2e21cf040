/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output.h: a file that gets its name when it is complete.
 *
 * The file is written as ".NAME.part" in the same directory, synced and renamed. So NAME
 * is the old file, the new one, or absent, at every moment, also after kill -9 and a
 * power cut. A file that is not committed is removed, also when INT, TERM or HUP ends the
 * process (output_catch_signals). After kill -9 the temporary file remains; the next run
 * for the same name reuses it. Of two processes that make the same file one is refused,
 * if the filesystem has locks.
 *
 * Threads: one thread begins and ends all outputs of a process.
 */
#ifndef GRANARY_PACKER_OUTPUT_H
#define GRANARY_PACKER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct output;

/* At the same time, in one process: a packed file and the files beside it. */
enum { OUTPUT_MOST = 8 };

/*
 * Begins the file `path`. -EEXIST if it exists and `replace` is not set. The caller ends
 * *out with output_commit or output_drop.
 */
int output_begin(const char *path, bool replace, struct output **out, struct error *e);

/* Open for reading and writing; empty at first; closed by commit and drop. */
int output_fd(const struct output *output);

/*
 * `bytes` more were written. Starts writeback early, so that the sync at the end has
 * little to do.
 */
void output_advance(struct output *output, uint64_t bytes);

/* Syncs the file and renames it to its name. Frees the output, also on an error. */
int output_commit(struct output *output, struct error *e);

/* Removes the file and frees the output. NULL is allowed. */
void output_drop(struct output *output);

/* Writes a small file at once; replaces an existing one. */
int output_write(const char *path, const void *bytes, size_t size, struct error *e);

/*
 * Sets the sentence for a failed write of `path`. For a full disk or quota it says how
 * many bytes were written, and a remedy. Returns -errnum.
 */
int output_error(const char *path, int errnum, uint64_t written, struct error *e);

/*
 * On: INT, TERM and HUP, unless ignored, remove all begun files and then end the process.
 * Off: these signals have their default action again.
 */
void output_catch_signals(bool on);

/*
 * The signals also remove `name`, unless `there` exists. Both texts must live until the
 * next call; NULL: nothing. One pair at a time.
 */
void output_remove_unless(const char *name, const char *there);

#endif
