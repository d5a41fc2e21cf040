/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decoders.h: decodes images in processes without rights (os/sandbox.h).
 *
 * The decoding libraries parse untrusted bytes, and the packer has the caller's rights.
 * So a worker process gets the bytes of an image through a socket and returns a size or
 * pixels. A worker that crashes costs only the image that it had; it is not replaced.
 *
 * Threads: one thread calls decoders_start and decoders_stop, while no other thread uses
 * the decoders. Any thread may call the others.
 */
#ifndef GRANARY_PACKER_DECODERS_H
#define GRANARY_PACKER_DECODERS_H

#include "base/error.h"
#include "packer/pixels.h"

struct decoders;

/* Starts `count` workers, at most 64. 0, or a negative errno and a sentence. */
int decoders_start(struct decoders **out, unsigned count, struct error *e);

/* NULL is allowed. */
void decoders_stop(struct decoders *decoders);

/* As pixels_measure. */
bool decoders_measure(struct decoders *decoders, const void *bytes, size_t length,
		      uint64_t *size, const char **damage);

/* As pixels_decode; `most`: the size that decoders_measure returned. */
int decoders_decode(struct decoders *decoders, const void *bytes, size_t length,
		    uint64_t most, struct pixels *out, const char **damage);

#endif
