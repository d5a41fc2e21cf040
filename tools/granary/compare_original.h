/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_original.h: compares a dataset with the directory that it was packed from:
 * names, kinds, sizes, targets of links, and every byte.
 *
 * Permissions and times are not compared. Symbolic links are not followed, except the
 * directory itself. Devices, pipes and sockets cannot be in a dataset: they are only
 * counted.
 *
 * Threads: any number may call compare_original_bytes and compare_original_file, each
 * with a worker number of its own; one thread calls the others.
 */
#ifndef GRANARY_TOOL_COMPARE_ORIGINAL_H
#define GRANARY_TOOL_COMPARE_ORIGINAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "dataset/dataset.h"
#include "mismatches.h"

struct compare_original;

/* In a child (original.h). The dataset must outlive it. 0, or a negative errno and *e. */
int compare_original_open(const char *directory, const struct dataset *dataset,
			  struct mismatches *findings, struct compare_original **out,
			  struct error *e);
void compare_original_close(struct compare_original *comparison);

/* Compares all but bytes, and marks the files whose bytes will be. 0 or as above. */
int compare_original_names(struct compare_original *comparison, struct error *e);

/* Devices, pipes and sockets of the original. */
uint64_t compare_original_special(const struct compare_original *comparison);

/* A file's bytes, in order; compare_original_file ends the file. */
void compare_original_bytes(struct compare_original *comparison, unsigned worker,
			    uint32_t node,
			    uint64_t offset, const void *bytes, size_t length);
void compare_original_file(struct compare_original *comparison, unsigned worker,
			   uint32_t node);

#endif
