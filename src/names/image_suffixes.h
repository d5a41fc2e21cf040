/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_suffixes.h: the endings of files that are images.
 *
 * Threads: any.
 */
#ifndef GRANARY_NAMES_IMAGE_SUFFIXES_H
#define GRANARY_NAMES_IMAGE_SUFFIXES_H

#include <stdbool.h>

/* Does the name end in a dot and such an ending? In either case: "a.JPEG". */
bool name_has_image_suffix(const char *name);

#endif
