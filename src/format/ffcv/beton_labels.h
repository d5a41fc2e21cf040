/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beton_labels.h: which field of an FFCV file labels its samples. Private to format/ffcv/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_FFCV_BETON_LABELS_H
#define GRANARY_FORMAT_FFCV_BETON_LABELS_H

#include "format/ffcv/beton_file.h"

/*
 * The field of labels: that of labels=NAME, or by the rules; NULL: none. Tells what else
 * could be meant. 0, or an error that was told.
 */
int beton_labels_choose(struct beton_file *file, const struct beton_field **out);

/* The label of a sample, or SAMPLE_UNLABELLED. 0, or an error that was told. */
int beton_label_read(struct beton_file *file, const struct beton_field *labels, uint64_t sample,
		     int64_t *out);

/* "image (image), label (int)", as far as there is room. */
void beton_list_fields(const struct beton_file *file, char *text, size_t room);

#endif
