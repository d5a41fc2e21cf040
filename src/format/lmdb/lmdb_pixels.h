/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lmdb_pixels.h: pixels in values, as .ppm and .pgm: a header in the index, and the bytes
 * where they are. Planes of colours become pixels by an array volume; images of one size
 * that follow each other share one.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_LMDB_PIXELS_H
#define GRANARY_FORMAT_LMDB_PIXELS_H

#include "base/arena.h"
#include "format/lmdb/lmdb_file.h"
#include "format/lmdb/lmdb_value.h"

struct lmdb_pixels {
	struct lmdb_file *file;
	uint64_t width, height; /* of the last image, */
	unsigned channels;
	struct sample_bytes head; /* and its header */

	/* Images in planes, of the last image's size, that are no samples yet */
	VEC(struct sample) waiting;
	VEC(struct entry_tile) tiles;
	struct arena texts;
	uint64_t arrays; /* so far */
};

void lmdb_pixels_close(struct lmdb_pixels *pixels);

/*
 * Adds a sample of pixels; its label and name are in `sample`, and copied. Samples of
 * planes are added later, by lmdb_pixels_flush at the latest. 0; -ENOSPC: there are too
 * many sizes; or an error with its sentence.
 */
int lmdb_pixels_add(struct lmdb_pixels *pixels, const struct lmdb_sample *image,
		    const struct sample *sample);
int lmdb_pixels_flush(struct lmdb_pixels *pixels);

#endif
