/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "volume/chunk.h"

#include <errno.h>

#include "base/cleanup.h"
#include "cache/key.h"
#include "codec/codec.h"
#include "os/quota.h"
#include "os/slab.h"
#include "stats/stats.h"
#include "trace/trace.h"
#include "volume/stage.h"
#include "volume/stream.h"

_Static_assert((int)VOLUME_CODECS == (int)CODEC_CHAIN_MOST, "a chain fits its volume");

/*
 * Bytes that are decoded at the same time, of all volumes: an index may have chunks of 1
 * GiB, and there are many threads.
 */
static struct quota decoding = QUOTA_INIT(UINT64_C(512) << 20);

/* Memory of stored bytes, of which each chunk needs some for a moment. */
static struct slab stored_bytes = SLAB_INIT(UINT64_C(4) << 20);

/*
 * Takes what the chunk needs, and the bytes between two steps of its chain. A thread that
 * has some already, for the chunk that this one holds the bytes of, may not wait for more.
 */
static void take_quota(struct chunk *chunk, size_t room)
{
	if (chunk->context->in_chunk)
		return;
	chunk->taken = chunk->is.stored_length + 2 * (uint64_t)room;
	quota_acquire(&decoding, chunk->taken);
}

static int read_stored(const struct chunk *chunk, void *buffer)
{
	struct read_context *context = chunk->context;
	bool before = context->in_chunk;
	int err;

	context->in_chunk = true;
	err = stage_pread(chunk->volume, buffer, chunk->is.stored_length,
			  chunk->is.stored_at, context);
	context->in_chunk = before;
	return err;
}

static void trace_decode(const struct chunk *chunk, uint64_t begin, uint64_t took, ssize_t n)
{
	trace_add(&(struct trace_event){
		.kind = TRACE_DECODE, .begin = begin, .took = took, .subject = chunk->number,
		.offset = chunk->is.stored_at, .size = chunk->is.stored_length, .result = n,
	});
}

/* Reads and decodes: the number of bytes, or a negative errno. */
static ssize_t fetch_chunk(void *context, void *buffer, size_t room)
{
	struct chunk *chunk = context;
	const struct volume_chunk *is = &chunk->is;
	CLEANUP(slab_end_loan) struct slab_loan loan = { .slab = &stored_bytes };
	uint64_t begin, took;
	void *stored;
	ssize_t n;
	int err;

	take_quota(chunk, room);
	stored = slab_lend(&loan, is->stored_length);
	if (!stored)
		return -ENOMEM;
	err = read_stored(chunk, stored);
	if (err)
		return err;
	begin = stats_clock();
	n = chunk->volume->ops == &volume_stream_ops ?
		    stream_decode(chunk->volume, chunk->number, is, stored, buffer, room) :
		    codec_chain_decode(chunk->volume->desc.codecs, is->skipped, stored,
				       is->stored_length, buffer, room);
	took = stats_add_duration(HISTOGRAM_decode, begin, chunk->context->demand);
	if (trace_is_on())
		trace_decode(chunk, begin, took, n);
	if (n >= 0) {
		stats_add(COUNTER_chunks_decoded, 1);
		stats_add(COUNTER_chunk_bytes, (uint64_t)n);
	}
	return n;
}

/* The whole chunk, into the caller's buffer: 0 or a negative errno. */
static int chunk_get_whole(struct chunk *chunk, uint64_t key, size_t room, void *whole)
{
	ssize_t n;

	if (cache_peek(chunk->volume->table->cache, key, CACHE_FOREVER, &chunk->pin))
		return 0;
	n = fetch_chunk(chunk, whole, room);
	chunk->bytes = whole;
	chunk->size = n < 0 ? 0 : (size_t)n;
	return n < 0 ? (int)n : 0;
}

static int chunk_get_cached(struct chunk *chunk, uint64_t key, size_t room)
{
	int err = cache_get(chunk->volume->table->cache, key, room, fetch_chunk, chunk,
			    &chunk->pin);

	if (err)
		chunk->pin = NULL;
	return err;
}

int chunk_get(struct chunk *chunk, uint64_t number, size_t room, void *whole)
{
	uint64_t key = cache_key(CACHE_CHUNK, number), begin = stats_clock();
	int err;

	chunk->number = number;
	chunk->taken = 0;
	chunk->pin = NULL;
	if (chunk->is.stored_length == 0 || chunk->is.stored_length > VOLUME_CHUNK_LIMIT)
		return -EIO;
	if (chunk->context->hint == READ_DIRECT)
		cache_drop(chunk->volume->table->cache, key);
	err = whole ? chunk_get_whole(chunk, key, room, whole) :
		      chunk_get_cached(chunk, key, room);
	if (chunk->pin) {
		chunk->bytes = cache_data(chunk->pin);
		chunk->size = cache_size(chunk->pin);
	}
	if (!chunk->taken) /* it was there, or another thread has fetched it */
		stats_add_duration(HISTOGRAM_chunk_wait, begin, chunk->context->demand);
	return err;
}

void chunk_put(struct chunk *chunk, size_t read)
{
	struct cache *cache = chunk->volume->table->cache;

	/* a chunk of a stream goes on with a file that lies in the next one, too */
	if (chunk->pin)
		cache_put_read(cache, chunk->pin, read,
			       chunk->context->hint == READ_AHEAD &&
				       chunk->volume->ops != &volume_stream_ops);
	if (chunk->taken)
		quota_release(&decoding, chunk->taken);
}
