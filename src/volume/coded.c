/* coded.c: chunks of a source, decoded one behind the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "stats/stats.h"
#include "util/checked.h"
#include "util/cleanup.h"
#include "util/quota.h"
#include "volume/stage.h"

_Static_assert((int)VOLUME_CODECS == (int)CODEC_CHAIN_MOST, "a chain fits its volume");

/*
 * What is being decoded at the same time, of all volumes: an index may ask for
 * chunks of 1 GiB, and there are many threads.
 */
static struct quota decoding = QUOTA_INIT(UINT64_C(512) << 20);

/* What fetching one chunk takes. */
struct fetch {
	const struct volume *volume;
	struct volume_chunk chunk;
	uint64_t taken; /* of the quota: by the thread that decoded it */
};

/* Reads and decodes: how many bytes, or a negative errno. */
static ssize_t fetch_chunk(void *context, void *buffer, size_t room)
{
	struct fetch *fetch = context;
	const struct volume_chunk *chunk = &fetch->chunk;
	CLEANUP(cleanup_free) void *stored = NULL;
	uint64_t begin;
	ssize_t n;
	int err;

	/* itself, and what lies between two steps of its chain */
	fetch->taken = chunk->stored_length + 2 * (uint64_t)room;
	quota_take(&decoding, fetch->taken);
	stored = malloc(chunk->stored_length);
	if (!stored)
		return -ENOMEM;
	err = stage_pread(fetch->volume, stored, chunk->stored_length, chunk->stored_at);
	if (err)
		return err;
	begin = stats_clock();
	n = codec_chain_decode(fetch->volume->desc.codecs, chunk->skipped, stored,
			       chunk->stored_length, buffer, room);
	stats_took(HISTOGRAM_decode, begin);
	if (n >= 0) {
		stats_add(COUNTER_chunks_decoded, 1);
		stats_add(COUNTER_chunk_bytes, (uint64_t)n);
	}
	return n;
}

/* Copies what a decoded chunk has of the bytes from `skip` on. */
static int copy_out(struct fetch *fetch, uint64_t number, uint64_t plain, void *buffer,
		    size_t length, uint64_t skip)
{
	struct cache *cache = fetch->volume->table->cache;
	struct cache_pin *pin;
	uint64_t begin = stats_clock();
	int err = cache_get(cache, number, plain, fetch_chunk, fetch, &pin);

	if (!fetch->taken) /* it was there, or another thread has fetched it */
		stats_took(HISTOGRAM_chunk_wait, begin);
	if (err)
		return err;
	if (range_within(skip, length, cache_size(pin)))
		memcpy(buffer, (const char *)cache_data(pin) + skip, length);
	else
		err = -EBADMSG; /* it holds less than the index says */
	if (stage_manner() == VOLUME_AHEAD)
		cache_put_used(cache, pin);
	else
		cache_put(cache, pin);
	return err;
}

/* Reads from the chunk that holds `offset` as much as it has: how many bytes. */
static ssize_t read_chunk(const struct volume *volume, void *buffer, size_t length,
			  uint64_t offset)
{
	struct fetch fetch = { .volume = volume };
	uint64_t number, plain, skip;
	int err = index_chunk(volume->index, &volume->desc, offset, &number, &fetch.chunk,
			      &plain);

	if (err)
		return err;
	if (fetch.chunk.stored_length == 0 || fetch.chunk.stored_length > VOLUME_CHUNK_LIMIT)
		return -EIO;
	skip = offset - fetch.chunk.start;
	if (length > plain - skip)
		length = (size_t)(plain - skip);
	err = copy_out(&fetch, number, plain, buffer, length, skip);
	if (fetch.taken)
		quota_give(&decoding, fetch.taken);
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
