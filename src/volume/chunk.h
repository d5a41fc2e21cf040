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

/*
 * A thread's chunk. A thread must not have two at once, except the chunk of a stream that
 * another one is stored in.
 */
struct chunk {
	const struct volume *volume;
	struct read_context *context;
	struct volume_chunk is;
	uint64_t number; /* in the table of chunks */
	uint64_t taken; /* of the quota, if this thread decoded the chunk */
	struct cache_pin *pin;
	const void *bytes; /* decoded, in the cache or in the caller's buffer */
	size_t size;
};

/*
 * Gets the chunk `chunk->is` of `chunk->volume`, decoded: it is `number` in the table
 * of chunks, and `room` bytes at most. 0 or a negative errno; chunk_put in either case.
 *
 * `whole`: NULL, or `room` bytes of a caller that wants the whole chunk. The chunk is
 * decoded there unless the cache has it, and the cache keeps no second copy.
 */
int chunk_get(struct chunk *chunk, uint64_t number, size_t room, void *whole);

/* `read`: bytes of the chunk that the caller passes on. */
void chunk_put(struct chunk *chunk, size_t read);

#endif
