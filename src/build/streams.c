/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "build/builder.h"

int builder_set_streams(struct builder *b, const struct stream_record *records,
			uint32_t count)
{
	b->streams = records;
	b->stream_count = count;
	b->stream_volumes = malloc((count + 1) * sizeof(*b->stream_volumes));
	for (uint32_t i = 0; i < count && b->stream_volumes; i++)
		b->stream_volumes[i] = (uint32_t)NO_ID;
	return b->stream_volumes ? 0 : -ENOMEM;
}

/* Copies chunks, points and windows into the index's tables. */
static int copy_tables(struct builder *b, const struct stream_record *stream)
{
	uint64_t windows = b->windows.count;

	if (vec_reserve(&b->chunks, stream->count) < 0 ||
	    vec_reserve(&b->points, stream->count) < 0 ||
	    vec_reserve(&b->windows, stream->window_bytes) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < stream->count; i++) {
		struct volume_point point = stream->points[i];

		point.window += windows;
		b->chunks.items[b->chunks.count++] = stream->chunks[i];
		b->points.items[b->points.count++] = point;
	}
	if (stream->window_bytes)
		memcpy(b->windows.items + windows, stream->windows, stream->window_bytes);
	b->windows.count += stream->window_bytes;
	return 0;
}

static int add_stream_volume(struct builder *b, const struct stream_record *stream)
{
	struct built_volume added = { .is = { .kind = VOLUME_STREAM, .source = stream->source,
					      .length = stream->length,
					      .chunk_count = stream->count,
					      .codecs = { stream->codec } } };
	int err = builder_locate_source(b, &added.is.source);

	added.is.base = b->points.count;
	added.is.first_chunk = b->chunks.count;
	if (!err)
		err = copy_tables(b, stream);
	return err ? err : vec_push(&b->volumes, added);
}

int builder_locate_source(struct builder *b, uint32_t *source)
{
	uint32_t record = *source & ~VOLUME_ON_STREAM;
	int err = 0;

	if (!(*source & VOLUME_ON_STREAM))
		return 0;
	if (record >= b->stream_count)
		return -EINVAL;
	if (b->stream_volumes[record] == (uint32_t)NO_ID) {
		err = add_stream_volume(b, &b->streams[record]);
		if (!err)
			b->stream_volumes[record] = (uint32_t)b->volumes.count - 1;
	}
	*source = VOLUME_ON_STREAM | b->stream_volumes[record];
	return err;
}

void builder_free_streams(struct builder *b)
{
	free(b->stream_volumes);
	vec_free(&b->points);
	vec_free(&b->windows);
}
