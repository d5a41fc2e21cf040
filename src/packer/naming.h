/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naming.h: the names that decoded images get.
 */
#ifndef GRANARY_PACKER_NAMING_H
#define GRANARY_PACKER_NAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/scan.h"

/* The extension of a path (behind its last dot), or NULL. */
const char *naming_extension(const char *path);

/* Has the path an extension of images that can be decoded? */
bool naming_is_image(const char *path);

/*
 * The path of entry `i` once it is decoded, in `arena`: its extension becomes ppm. If
 * another file has that name or would get it, ppm is appended. NULL: out of memory.
 */
const char *naming_decoded(const struct pack_scan *scan, size_t i, struct arena *arena);

#endif
