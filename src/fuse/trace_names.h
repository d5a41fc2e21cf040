/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_names.h: the paths of a mount's files and sources, for the writer of its trace.
 * Private to fuse/.
 *
 * Threads: only while the process has one.
 */
#ifndef GRANARY_FUSE_TRACE_NAMES_H
#define GRANARY_FUSE_TRACE_NAMES_H

#include "dataset/dataset.h"

/* Both must outlive the process's traces. */
void trace_names_set(const struct dataset *dataset, const char *mountpoint);

/* trace_writer_start with these names. */
int trace_names_write(const char *path, struct error *e);

#endif
