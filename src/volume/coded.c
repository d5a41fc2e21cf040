/* coded.c: chunks of a source, decoded one behind the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "stats/stats.h"
#include "util/checked.h"
#include "util/cleanup.h"
#include "volume/volume.h"

_Static_assert((int)VOLUME_CODECS == (int)CODEC_CHAIN_MOST, "a chain fits its volume");

/* What fetching one chunk takes. */
struct fetch {
	const struct volume *volume;
	struct volume_chunk chunk;
};

/* Reads and decodes: how many bytes, or a negative errno. */
static ssize_t fetch_chunk(void *context, void *buffer, size_t room)
{
	const struct fetch *fetch = context;
	const struct volume_chunk *chunk = &fetch->chunk;
	CLEANUP(cleanup_free) void *stored = malloc(chunk->stored_length);
	ssize_t n;
	int err;

	if (!stored)
		return -ENOMEM;
	err = source_pread(fetch->volume->source, stored, chunk->stored_length,
			   chunk->stored_at);
	if (err)
		return err;
	n = codec_chain_decode(fetch->volume->desc.codecs, chunk->skipped, stored,
			       chunk->stored_length, buffer, room);
	if (n >= 0) {
		stats_add(COUNTER_chunks_decoded, 1);
		stats_add(COUNTER_chunk_bytes, (uint64_t)n);
	}
	return n;
}

/* Copies from the chunk that holds `offset` as much as it has: how many bytes. */
static ssize_t read_chunk(const struct volume *volume, void *buffer, size_t length,
			  uint64_t offset)
{
	struct fetch fetch = { .volume = volume };
	struct cache_pin *pin;
	uint64_t number, plain, skip, decoded;
	int err = index_chunk(volume->index, &volume->desc, offset, &number, &fetch.chunk,
			      &plain);

	if (err)
		return err;
	if (fetch.chunk.stored_length == 0 || fetch.chunk.stored_length > VOLUME_CHUNK_LIMIT)
		return -EIO;
	err = cache_get(volume->cache, number, plain, fetch_chunk, &fetch, &pin);
	if (err)
		return err;
	skip = offset - fetch.chunk.start;
	decoded = cache_size(pin);
	if (length > plain - skip)
		length = (size_t)(plain - skip);
	if (range_within(skip, length, decoded))
		memcpy(buffer, (const char *)cache_data(pin) + skip, length);
	else
		err = -EBADMSG; /* it holds less than the index says */
	cache_put(volume->cache, pin);
	return err ? err : (ssize_t)length;
}

static int coded_pread(const struct volume *volume, void *buffer, size_t length,
		       uint64_t offset)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = read_chunk(volume, (char *)buffer + done, length - done,
				       offset + done);

		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
}

const struct volume_ops volume_coded_ops = { .pread = coded_pread };
