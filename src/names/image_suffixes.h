/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_suffixes.h: the endings of files that are images.
 *
 * Threads: any.
 */
#ifndef GRANARY_NAMES_IMAGE_SUFFIXES_H
#define GRANARY_NAMES_IMAGE_SUFFIXES_H

#include <stdbool.h>
#include <stddef.h>

/* Are these `n` bytes, without the dot, such an ending? "jpg", "JPEG". */
bool image_suffix_is(const char *suffix, size_t n);

/* Does the name end in a dot and such an ending? */
bool name_has_image_suffix(const char *name);

#endif
