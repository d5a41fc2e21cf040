/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chunk.h: stored chunks, decoded through the cache. Private to volume/.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_VOLUME_CHUNK_H
#define GRANARY_VOLUME_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "volume/volume.h"

/* A thread's chunk. A thread must not have two at once. */
struct chunk {
	const struct volume *volume;
	struct read_context *context;
	struct volume_chunk is;
	uint64_t taken; /* of the quota, if this thread decoded the chunk */
	struct cache_pin *pin;
};

/*
 * Pins the decoded chunk `chunk->is` of `chunk->volume`: number `number` in the table of
 * chunks, of at most `room` bytes. 0 or a negative errno; chunk_put in either case.
 */
int chunk_get(struct chunk *chunk, uint64_t number, size_t room);
void chunk_put(struct chunk *chunk);

#endif
