/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickled_image.h: where the pixels of a pickled PIL image lie.
 *
 * pickle.dumps(image) holds the pixels as they are, behind the image's mode and size. So
 * such a file can be shown as a PPM or PGM: a header, and these bytes in place. The pickle
 * is followed opcode by opcode, and nothing in it is executed: objects are only noted.
 *
 * Threads: one reader belongs to one thread.
 */
#ifndef GRANARY_SAMPLES_PICKLED_IMAGE_H
#define GRANARY_SAMPLES_PICKLED_IMAGE_H

#include <stdint.h>

#include "samples/wds_window.h"

struct wds_image {
	uint64_t width, height;
	uint64_t offset, length; /* of the pixels, in the source */
	unsigned channels;       /* 3: mode RGB; 1: mode L */
};

struct pickled_image_reader;

struct pickled_image_reader *pickled_image_new(struct wds_window *window);
void pickled_image_free(struct pickled_image_reader *pyd);

/*
 * The image in these bytes of the source: 0; -ENODATA where they are no pickled image;
 * -ENOTSUP where they are one whose pixels are not in place, and *why says so; or another
 * negative errno where they could not be read.
 */
int pickled_image_find(struct pickled_image_reader *pyd, uint64_t offset, uint64_t size,
		       struct wds_image *out, const char **why);

#endif
