/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decoders.h: images, decoded by processes without rights (os/sandbox.h).
 *
 * The libraries that decode are given strangers' bytes, and the packer has the caller's
 * rights. So a worker process gets the bytes of an image through a socket, and gives back
 * a size or pixels. One that crashes costs the image that it had, and is not replaced.
 *
 * Threads: decoders_start and decoders_stop by one, before and after there are others;
 * the rest by any.
 */
#ifndef GRANARY_PACKER_DECODERS_H
#define GRANARY_PACKER_DECODERS_H

#include "base/error.h"
#include "packer/pixels.h"

struct decoders;

/* So many workers, at most 64. 0, or a negative errno and a sentence. */
int decoders_start(struct decoders **out, unsigned count, struct error *e);

/* NULL is allowed. */
void decoders_stop(struct decoders *decoders);

/* As pixels_measure. */
bool decoders_measure(struct decoders *decoders, const void *bytes, size_t length,
		      uint64_t *size, const char **damage);

/* As pixels_decode; `most`: what decoders_measure said it would be. */
int decoders_decode(struct decoders *decoders, const void *bytes, size_t length,
		    uint64_t most, struct pixels *out, const char **damage);

#endif
