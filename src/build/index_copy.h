/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_copy.h: copies an index into an image. */
#ifndef GRANARY_BUILD_INDEX_COPY_H
#define GRANARY_BUILD_INDEX_COPY_H

#include "build/image.h"
#include "index/index.h"

/*
 * Copies all sections of an index, so that some can be added: 0 or -ENOMEM. The caller
 * frees the image (image_free).
 */
int index_copy(const struct index *index, struct image *out);

#endif
