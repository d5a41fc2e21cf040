/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * against.h: a dataset is compared with the directory that it was packed from: which
 * names there are, of which kinds, sizes, what links hold, and every byte.
 *
 * Neither permissions nor times are compared. Symbolic links are not followed, but for
 * the directory itself. Devices, pipes and sockets cannot be in a dataset: they are
 * counted.
 *
 * Threads: against_bytes and against_file by any number, each with a worker of its own;
 * the others by one.
 */
#ifndef GRANARY_TOOL_AGAINST_H
#define GRANARY_TOOL_AGAINST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "mismatches.h"

struct against;

/* In a child (original.h). The dataset must outlive it. 0, or a negative errno and a sentence. */
int against_open(const char *directory, const struct dataset *dataset,
		 struct findings *findings, struct against **out, struct error *e);
void against_close(struct against *against);

/* Compares all but bytes; marks the files whose bytes are to be. 0 or as above. */
int against_names(struct against *against, struct error *e);

/* Devices, pipes and sockets of the original. */
uint64_t against_special(const struct against *against);

/* A file's bytes, from the first to the last, and then its end. */
void against_bytes(struct against *against, unsigned worker, uint32_t node,
		   uint64_t offset, const void *bytes, size_t length);
void against_file(struct against *against, unsigned worker, uint32_t node);

#endif
