/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * measure.h: the decoded sizes of images, for shards of even size.
 *
 * Threads: called by one; starts its own.
 */
#ifndef GRANARY_PACKER_MEASURE_H
#define GRANARY_PACKER_MEASURE_H

#include "packer/decoders.h"
#include "packer/scan.h"

/*
 * Fills decoded_size of the entries that have an image's name and begin like one. A file
 * that cannot be read is skipped: packing it reports the error. 0 or a negative errno.
 */
int measure_images(struct pack_scan *scan, struct decoders *decoders, unsigned threads);

#endif
