/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "volume/stream.h"

#include <errno.h>

#include "base/checked.h"
#include "codec/codec.h"
#include "index/checksum.h"

ssize_t stream_decode(const struct volume *stream, uint64_t number,
		      const struct volume_chunk *chunk, const void *stored, void *plain,
		      size_t room)
{
	struct codec_entry entry = { 0 };
	struct volume_point point;
	ssize_t n = index_point(stream->index, &stream->desc, number, &point);

	if (n)
		return n;
	entry.bits = point.bits;
	entry.window = index_window(stream->index, &point);
	entry.window_length = point.window_length;
	if (!entry.window && entry.window_length)
		return -EIO;
	n = chunk->skipped ? codec_chain_decode(stream->desc.codecs, chunk->skipped, stored,
						chunk->stored_length, plain, room) :
			     codec_decode_at(stream->desc.codecs[0], &entry, stored,
					     chunk->stored_length, plain, room);
	if (n < 0)
		return n;
	return (size_t)n == room && sum_of(plain, room) == point.sum ? n : -EBADMSG;
}

int stream_pread(const struct volume *stream, void *buffer, size_t length, uint64_t offset,
		 struct read_context *context)
{
	if (!range_within(offset, length, stream->desc.length))
		return -EIO;
	return stream->ops->pread(stream, buffer, length, offset, context);
}
