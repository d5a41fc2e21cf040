/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packed_suffixes.h: names of packed files that may lie in others: tars, compressed ones too,
 * and zips: ".tar", ".tar.gz", ".tgz", ".zip".
 *
 * A name only suggests what a file is: its bytes decide.
 */
#ifndef GRANARY_NAMES_PACKED_SUFFIXES_H
#define GRANARY_NAMES_PACKED_SUFFIXES_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the suffix of a path of `n` bytes, in any case; 0: it has none, or no more. */
size_t packed_suffix_length(const char *path, size_t n);

/* Is the suffix that of numpy's arrays in a zip? */
bool packed_suffix_is_npz(const char *path, size_t n);

#endif
