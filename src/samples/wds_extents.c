/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_extents.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "codec/codec.h"

/* A zip stores what does not get smaller: bytes that would be many more are damaged. */
enum { STORED_MORE_MOST = 64 << 10 };

struct wds_chunk {
	const struct volume_chunk *stored;
	uint64_t plain; /* bytes */
};

/* The chunk that begins at an offset of a coded volume. */
static bool find_chunk(const struct volume_desc *volume, const struct volume_chunk *chunks,
		       uint64_t offset, struct wds_chunk *out)
{
	uint64_t low = 0, high = volume->chunk_count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (chunks[middle].start < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low >= volume->chunk_count || chunks[low].start != offset)
		return false;
	out->stored = &chunks[low];
	out->plain = (low + 1 < volume->chunk_count ? chunks[low + 1].start :
						      volume->length) - offset;
	return true;
}

/* Calls `visit` for each chunk of an extent, which has to be of whole ones. */
static int each_chunk(struct entries *log, const struct entry_extent *extent,
		      int (*visit)(void *context, const struct volume_desc *volume,
				   const struct wds_chunk *chunk),
		      void *context)
{
	const struct volume_desc *volume = entries_volume(log, extent->volume);
	const struct volume_chunk *chunks = entries_chunks(log, extent->volume);
	uint64_t at = 0;
	int err = 0;

	while (at < extent->length && !err) {
		struct wds_chunk chunk;

		if (!find_chunk(volume, chunks, extent->offset + at, &chunk) ||
		    chunk.plain > extent->length - at)
			return -EBADMSG;
		err = visit(context, volume, &chunk);
		at += chunk.plain;
	}
	return err;
}

struct extent_copying {
	struct entries *to;
	uint64_t source_size;
	struct entry_extent *out; /* of the chunks so far */
};

static int copy_chunk(void *context, const struct volume_desc *volume,
		      const struct wds_chunk *chunk)
{
	struct extent_copying *copying = context;
	const struct entry_chunk copy = {
		.source = volume->source, .source_size = copying->source_size,
		.codecs = volume->codecs, .stored_at = chunk->stored->stored_at,
		.stored_length = chunk->stored->stored_length,
		.skipped = chunk->stored->skipped, .plain = chunk->plain,
	};
	struct entry_extent *out = copying->out, next;
	int err = entries_coded_extent(copying->to, &copy, &next);

	if (err)
		return err;
	if (!out->length)
		*out = next;
	else if (next.volume == out->volume && next.offset == out->offset + out->length)
		out->length += next.length;
	else
		return -EBADMSG;
	return 0;
}

int wds_extent_copy(struct entries *to, const struct scan *scan, struct entries *from,
		    const struct entry_extent *extent, struct entry_extent *out)
{
	const struct volume_desc *volume = entries_volume(from, extent->volume);
	uint64_t size = source_size(scan->source);
	struct extent_copying copying = { to, size, out };

	*out = (struct entry_extent){ .length = 0 };
	if (volume->kind == VOLUME_CODED)
		return each_chunk(from, extent, copy_chunk, &copying);
	/* a large member of a zip may be a source of its own */
	if (volume->source != scan->source_number)
		size = volume->base + volume->length;
	return entries_raw_extent(to, volume->source, size,
				  volume->base + extent->offset, extent->length, out);
}

struct extent_decoding {
	const struct source *source;
	unsigned char *out;
};

static int decode_chunk(void *context, const struct volume_desc *volume,
			const struct wds_chunk *chunk)
{
	struct extent_decoding *decoding = context;
	size_t n = chunk->stored->stored_length;
	CLEANUP(cleanup_free) void *stored = NULL;
	ssize_t plain;
	int err;

	if (n > chunk->plain + STORED_MORE_MOST)
		return -EBADMSG;
	stored = malloc(n ? n : 1);
	if (!stored)
		return -ENOMEM;
	err = source_pread(decoding->source, stored, n, chunk->stored->stored_at);
	if (err)
		return err;
	plain = codec_chain_decode(volume->codecs, chunk->stored->skipped, stored, n,
				   decoding->out, (size_t)chunk->plain);
	if (plain != (ssize_t)chunk->plain)
		return plain == -ENOMEM ? -ENOMEM : -EBADMSG;
	decoding->out += chunk->plain;
	return 0;
}

int wds_extent_decode(const struct source *source, struct entries *log,
		      const struct entry_extent *extent, unsigned char *out)
{
	struct extent_decoding decoding = { source, out };

	return each_chunk(log, extent, decode_chunk, &decoding);
}
