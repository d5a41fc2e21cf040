/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "volume/volume.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/invariant.h"
#include "cache/key.h"
#include "codec/codec.h"
#include "index/array_tiles.h"
#include "volume/array.h"
#include "volume/guard.h"
#include "volume/stage.h"

/* Decoded chunks that are kept although no thread reads them at the moment. */
#define CACHE_BUDGET (UINT64_C(256) << 20)

static void open_raw(struct volume *volume, const struct volume_desc *desc)
{
	if (range_within(desc->base, desc->length, volume_stored_size(volume)))
		volume->ops = &volume_raw_ops;
}

static void open_literal(struct volume *volume, const struct volume_desc *desc)
{
	if (range_within(desc->base, desc->length, index_literals_size(volume->index)))
		volume->ops = &volume_literal_ops;
}

static void open_coded(struct volume *volume, const struct volume_desc *desc)
{
	if (codec_chain_check(desc->codecs) == 0)
		volume->ops = &volume_coded_ops;
}

static void open_stream(struct volume *volume, const struct volume_desc *desc)
{
	if (codec_chain_check(desc->codecs) == 0)
		volume->ops = &volume_stream_ops;
}

static void open_array(struct volume *volume, const struct volume_desc *desc)
{
	struct array_measure measure;
	struct volume_array array;

	if (codec_chain_check(desc->codecs) == 0 &&
	    index_array(volume->index, desc, &array, &measure) == 0)
		volume->ops = &volume_array_ops;
}

/* By enum volume_kind: leaves ops NULL if the numbers are invalid. */
static const struct {
	bool has_source;
	void (*open)(struct volume *volume, const struct volume_desc *desc);
} kinds[] = {
	[VOLUME_RAW] = { true, open_raw },
	[VOLUME_LITERAL] = { false, open_literal },
	[VOLUME_CODED] = { true, open_coded },
	[VOLUME_ARRAY] = { true, open_array },
	[VOLUME_STREAM] = { true, open_stream },
};

/* The source of a volume, and the stream that it lies on. False: there is none. */
static bool find_storage(const struct volume_table *table, struct volume *volume)
{
	uint32_t number = volume->desc.source & ~VOLUME_ON_STREAM;

	if (volume->desc.source & VOLUME_ON_STREAM) {
		/* a lower number, so that no two lie on each other */
		if (number >= (uint32_t)(volume - table->volumes) ||
		    table->volumes[number].ops != &volume_stream_ops)
			return false;
		volume->stream = &table->volumes[number];
		volume->desc.source = volume->stream->desc.source;
	} else if (number >= table->sources->count) {
		return false;
	}
	volume->source = table->sources->sources[volume->desc.source];
	return true;
}

static void open_volume(const struct volume_table *table, struct volume *volume,
			const struct volume_desc *desc, const struct index *index)
{
	if ((size_t)desc->kind >= sizeof(kinds) / sizeof(*kinds) ||
	    !kinds[desc->kind].open || !guard_is_known(desc->guard))
		return;
	volume->desc = *desc;
	volume->index = index;
	volume->table = table;
	if (kinds[desc->kind].has_source && !find_storage(table, volume))
		return;
	kinds[desc->kind].open(volume, desc);
}

int volume_table_open(const struct index *index, const struct source_set *sources,
		      struct volume_table *out)
{
	const struct cache_limits limits = { CACHE_BUDGET, CACHE_USED_DEFAULT };
	uint32_t count = index_volume_count(index);

	*out = (struct volume_table){ .magic = HANDLE_VOLUMES, .volumes = calloc(count ? count : 1,
							sizeof(*out->volumes)),
				      .count = count, .sources = sources,
				      .cache = cache_new(&limits) };
	if (!out->volumes || !out->cache) {
		volume_table_close(out);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct volume_desc desc;

		if (index_volume(index, i, &desc) == 0)
			open_volume(out, &out->volumes[i], &desc, index);
	}
	return 0;
}

void volume_table_close(struct volume_table *table)
{
	cache_free(table->cache);
	free(table->volumes);
	*table = (struct volume_table){ 0 };
}

const char *volume_table_needs(const struct volume_table *table)
{
	const char *needs = NULL;

	for (uint32_t i = 0; i < table->count && !needs; i++)
		if (!table->volumes[i].ops)
			needs = codec_chain_needs(table->volumes[i].desc.codecs);
	return needs;
}

bool volume_is_known(const struct volume_desc *desc)
{
	bool coded = desc->kind == VOLUME_CODED || desc->kind == VOLUME_ARRAY ||
		     desc->kind == VOLUME_STREAM;

	return (!coded || codec_chain_check(desc->codecs) == 0) &&
	       guard_is_known(desc->guard);
}

static const struct volume *volume_find_volume(const struct volume_table *table,
					       uint32_t number)
{
	const struct volume *volume = number < table->count ? &table->volumes[number] :
							      NULL;

	return volume && volume->ops ? volume : NULL;
}

int volume_pread(const struct volume_table *table, uint32_t number, void *buffer,
		 size_t length, uint64_t offset, struct read_context *context)
{
	const struct volume *volume = volume_find_volume(table, number);

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	if (!volume || !range_within(offset, length, volume->desc.length))
		return -EIO;
	return volume->ops->pread(volume, buffer, length, offset, context);
}

/* Where a guard's bytes are read. */
struct guarded {
	const struct volume *volume;
	struct read_context *context;
};

static int read_guard(const void *argument, void *buffer, size_t length, uint64_t offset)
{
	const struct guarded *from = argument;

	return stage_pread(from->volume, buffer, length, offset, from->context);
}

/*
 * Past blocks that were read ahead, for the writer may have gone on since. The pages stay
 * in the kernel's page cache, where a writer of this machine changes them.
 */
static int read_counter(const void *argument, void *buffer, size_t length, uint64_t offset)
{
	const struct guarded *from = argument;
	enum read_hint hint = from->context->hint;
	int err;

	from->context->hint = READ_SHARED;
	err = source_read(from->volume->source, buffer, length, offset, from->context);
	from->context->hint = hint;
	return err;
}

int volume_check(const struct volume_table *table, uint32_t number, uint64_t offset,
		 uint64_t length, struct read_context *context)
{
	const struct volume *volume = volume_find_volume(table, number);

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	if (!volume)
		return -EIO;
	if (volume->desc.guard == GUARD_LMDB)
		return guard_check_snapshot(&volume->desc.snapshot, read_counter,
					    &(struct guarded){ volume, context });
	if (volume->ops != &volume_raw_ops || volume->desc.guard == GUARD_NONE)
		return 0;
	if (!range_within(offset, length, volume->desc.length))
		return -EIO;
	return guard_check(volume->desc.guard, read_guard,
			   &(struct guarded){ volume, context },
			   volume->desc.base + offset, length);
}

/*
 * From the chunk that holds the first byte to the end of the chunk that holds the last.
 */
static bool span_chunks(const struct volume *volume, uint64_t offset, uint64_t length,
			struct volume_span *out)
{
	struct volume_chunk first, last;
	uint64_t number, plain;

	if (index_chunk(volume->index, &volume->desc, offset, &number, &first, &plain) < 0 ||
	    index_chunk(volume->index, &volume->desc, offset + length - 1, &number, &last,
			&plain) < 0)
		return false;
	out->start = first.stored_at;
	out->end = last.stored_at + last.stored_length;
	return true;
}

bool volume_is_plain(const struct volume_table *table, uint32_t number)
{
	const struct volume *volume = volume_find_volume(table, number);

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	return volume && volume->ops == &volume_raw_ops && !volume->stream &&
	       volume->desc.guard == GUARD_NONE;
}

/* The chunk of a byte, of a raw volume that of its stream; false: it is in none. */
static bool volume_find_chunk(const struct volume *volume, uint64_t offset,
			      uint64_t *number, struct volume_chunk *out)
{
	uint64_t plain;

	if (volume->ops == &volume_array_ops)
		return array_find_chunk(volume, offset, number, out);
	if (volume->ops == &volume_raw_ops) {
		offset += volume->desc.base;
		volume = volume->stream;
	}
	return volume && volume->ops != &volume_literal_ops &&
	       index_chunk(volume->index, &volume->desc, offset, number, out, &plain) == 0;
}

/* Is the chunk of a byte in the cache? */
static bool byte_is_decoded(const struct volume *volume, uint64_t offset)
{
	struct volume_chunk chunk;
	uint64_t at;

	return volume_find_chunk(volume, offset, &at, &chunk) &&
	       cache_has(volume->table->cache, cache_key(CACHE_CHUNK, at));
}

bool volume_is_decoded(const struct volume_table *table, uint32_t number, uint64_t offset,
		       uint64_t length)
{
	const struct volume *volume = volume_find_volume(table, number);

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	return volume && byte_is_decoded(volume, offset) &&
	       byte_is_decoded(volume, offset + length - 1);
}

/* The stored bytes of these bytes, in the source or the stream that the volume lies on. */
static bool stored_span(const struct volume *volume, uint64_t offset, uint64_t length,
			struct volume_span *out)
{
	if (!volume->source || length == 0 ||
	    !range_within(offset, length, volume->desc.length))
		return false;
	out->source = volume->desc.source;
	out->start = volume->desc.base + offset;
	out->end = out->start + length;
	if ((volume->ops == &volume_coded_ops || volume->ops == &volume_stream_ops) &&
	    !span_chunks(volume, offset, length, out))
		return false;
	if (volume->ops == &volume_array_ops && !array_span(volume, offset, length, out))
		return false;
	return out->start < out->end && out->end <= volume_stored_size(volume);
}

bool volume_span(const struct volume_table *table, uint32_t number, uint64_t offset,
		 uint64_t length, struct volume_span *out)
{
	const struct volume *volume = volume_find_volume(table, number);

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	for (; volume; volume = volume->stream) {
		if (!stored_span(volume, offset, length, out))
			return false;
		offset = out->start;
		length = out->end - out->start;
		if (!volume->stream)
			return true;
	}
	return false;
}

const char *volume_locate(const struct volume_table *table, uint32_t number,
			  uint64_t offset, uint64_t *out)
{
	const struct volume *volume = volume_find_volume(table, number);
	struct volume_chunk chunk;
	uint64_t at;

	HANDLE_CHECK(table, HANDLE_VOLUMES);
	*out = offset;
	if (!volume || !volume->source)
		return "the index";
	for (const struct volume *on = volume; on; on = on->stream) {
		if (on->ops == &volume_raw_ops)
			*out += on->desc.base;
		else if (volume_find_chunk(on, *out, &at, &chunk))
			*out = chunk.stored_at;
	}
	return source_path(volume->source);
}
