/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_suffixes.h: the endings of files that are images, and what is known of each.
 *
 * Threads: any.
 */
#ifndef GRANARY_NAMES_IMAGE_SUFFIXES_H
#define GRANARY_NAMES_IMAGE_SUFFIXES_H

#include <stdbool.h>

enum image_suffix {
	SUFFIX_IMAGE = 1,   /* of images of one format */
	SUFFIX_VAGUE = 2,   /* of images, and it says no format: "img" */
	SUFFIX_ARRAY = 4,   /* of arrays of NumPy */
	SUFFIX_LOADED = 8,  /* ImageFolder (torchvision) takes such files */
	SUFFIX_DECODED = 16, /* `granary pack` decodes such files */
	SUFFIX_SURE = 32,   /* its first bytes are those of no other file */
};

/* The kinds of a suffix such as "jpg", in either case; 0: none of these. */
unsigned image_suffix(const char *suffix);

/* Does the name end in a dot and a suffix that is one of `kinds`? "a.JPEG". */
bool name_has_image_suffix(const char *name, unsigned kinds);

#endif
