/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beton_rows.h: the images of a field of an FFCV file, as samples. Private to format/ffcv/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_FFCV_BETON_ROWS_H
#define GRANARY_FORMAT_FFCV_BETON_ROWS_H

#include "format/ffcv/beton_file.h"

/*
 * Appends a group of samples: the images of the field, with labels of another, or NULL. *jpegs:
 * how many are JPEGs; the others are pixels. 0, or an error that was told.
 */
int beton_rows_add(struct beton_file *file, const struct beton_field *images,
		   const struct beton_field *labels, uint64_t *jpegs);

#endif
