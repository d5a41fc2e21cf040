/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tar_suffixes.h: how tars are called, compressed ones too: ".tar", ".tar.gz", ".tgz".
 *
 * A name only suggests what a file is: its bytes decide.
 */
#ifndef GRANARY_NAMES_TAR_SUFFIXES_H
#define GRANARY_NAMES_TAR_SUFFIXES_H

#include <stddef.h>

/* Bytes of the suffix of a path of `n` bytes, in any case; 0: it has none, or no more. */
size_t tar_suffix_length(const char *path, size_t n);

#endif
