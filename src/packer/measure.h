/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * measure.h: how large images will be once they are decoded, for shards of even size.
 *
 * Threads: one calls it; it starts its own.
 */
#ifndef GRANARY_PACKER_MEASURE_H
#define GRANARY_PACKER_MEASURE_H

#include "packer/decoders.h"
#include "packer/scan.h"

/*
 * Fills decoded_size of the entries that are named as images are and begin like one. What
 * cannot be read stays as it is: who packs it will say so. 0 or a negative errno.
 */
int measure_images(struct scan *scan, struct decoders *decoders, unsigned threads);

#endif
