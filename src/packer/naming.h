/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naming.h: the names that decoded images get.
 */
#ifndef GRANARY_PACKER_NAMING_H
#define GRANARY_PACKER_NAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/scan.h"

/* Where the extension of a path begins (behind its last dot), or NULL if it has none. */
const char *naming_extension(const char *path);

/* Does the name say that this is an image that can be decoded? */
bool naming_is_image(const char *path);

/*
 * The path of entry `i` once it is decoded, in `arena`: its extension becomes ppm, or, where
 * another file has that name or would get it, ppm is added. NULL: out of memory.
 */
const char *naming_decoded(const struct scan *scan, size_t i, struct arena *arena);

#endif
