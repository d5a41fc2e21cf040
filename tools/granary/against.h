/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * against.h: compares a dataset with the directory that it was packed from: names, kinds,
 * sizes, targets of links, and every byte.
 *
 * Permissions and times are not compared. Symbolic links are not followed, except the
 * directory itself. Devices, pipes and sockets cannot be in a dataset: they are only
 * counted.
 *
 * Threads: any number may call against_bytes and against_file, each with a worker number
 * of its own; one thread calls the others.
 */
#ifndef GRANARY_TOOL_AGAINST_H
#define GRANARY_TOOL_AGAINST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "mismatches.h"

struct against;

/* In a child (original.h). The dataset must outlive it. 0, or a negative errno and *e. */
int against_open(const char *directory, const struct dataset *dataset,
		 struct findings *findings, struct against **out, struct error *e);
void against_close(struct against *against);

/* Compares all but bytes, and marks the files whose bytes will be. 0 or as above. */
int against_names(struct against *against, struct error *e);

/* Devices, pipes and sockets of the original. */
uint64_t against_special(const struct against *against);

/* A file's bytes, in order; against_file ends the file. */
void against_bytes(struct against *against, unsigned worker, uint32_t node,
		   uint64_t offset, const void *bytes, size_t length);
void against_file(struct against *against, unsigned worker, uint32_t node);

#endif
