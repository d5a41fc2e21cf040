/*
 * index_copy.h: an index as one in the making.
 */
#ifndef GRANARY_TREE_INDEX_COPY_H
#define GRANARY_TREE_INDEX_COPY_H

#include "tree/image.h"
#include "tree/index.h"

/*
 * Copies all sections of an index, so that something may be added: 0 or -ENOMEM. The caller
 * frees the image (image_free).
 */
int index_copy(const struct index *index, struct image *out);

#endif
