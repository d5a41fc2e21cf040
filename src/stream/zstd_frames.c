/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Zstandard (RFC 8878): a stream is entered at its frames. A chunk has as many of them as
 * make STREAM_SPAN bytes. Skippable frames hold no bytes: sizes, as pzstd writes them, or
 * the table of a seekable file, which one pass over the frames does not need.
 */
#include <errno.h>
#include <stdlib.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "stream/stream_buffer.h"

enum { FRAME_HEADER = 18 }; /* bytes, at most */

struct zstd_frames {
	struct stream_buffer stored;
	ZSTD_DStream *z;
};

static bool is_frame(const unsigned char *head, size_t n)
{
	return n >= 4 && little_endian(head, 4) == ZSTD_MAGICNUMBER;
}

/* Skippable frames stand before those of pzstd, too. */
static bool zstd_begins(const unsigned char *head, size_t n)
{
	while (n >= 8 && (little_endian(head, 4) & ZSTD_MAGIC_SKIPPABLE_MASK) ==
				 ZSTD_MAGIC_SKIPPABLE_START) {
		uint64_t length = 8 + little_endian(head + 4, 4);

		if (length > n)
			return false;
		head += length;
		n -= (size_t)length;
	}
	return is_frame(head, n);
}

static void *zstd_frames_open(struct stream_input *input)
{
	struct zstd_frames *zstd = calloc(1, sizeof(*zstd));

	if (!zstd)
		return NULL;
	zstd->stored.input = input;
	zstd->z = ZSTD_createDStream();
	if (zstd->z)
		return zstd;
	free(zstd);
	return NULL;
}

static void zstd_frames_close(void *reader)
{
	struct zstd_frames *zstd = reader;

	ZSTD_freeDStream(zstd->z);
	free(zstd);
}

static int zstd_cannot_enter(struct zstd_frames *zstd, const struct stream_chunk *chunk,
			     struct error *e)
{
	return stream_cannot_enter(zstd->stored.input, &stream_zstd, chunk->stored_at, e);
}

/*
 * At the begin of a frame: 1; 0 at the end; or an error. A frame that is known to be too
 * large is refused before it is decoded.
 */
static int begin_frame(struct zstd_frames *zstd, struct stream_chunk *out, struct error *e)
{
	int more = stream_buffer_need(&zstd->stored, FRAME_HEADER, e);
	unsigned long long size;

	if (more < 0)
		return more;
	if (zstd->stored.left == 0)
		return 0;
	size = ZSTD_getFrameContentSize(zstd->stored.next, zstd->stored.left);
	if (size == ZSTD_CONTENTSIZE_ERROR) {
		if (zstd->stored.left >= 4)
			return stream_damaged(zstd->stored.input, "there is no zstd frame",
					      stream_buffer_in_source(&zstd->stored), e);
		return stream_truncated(zstd->stored.input, e);
	}
	if (size != ZSTD_CONTENTSIZE_UNKNOWN && size > STREAM_CHUNK_MOST)
		return zstd_cannot_enter(zstd, out, e);
	return 1;
}

static int refuse_frame(struct zstd_frames *zstd, size_t status, uint64_t at, struct error *e)
{
	if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
		return stream_no_memory(zstd->stored.input, e);
	return stream_damaged(zstd->stored.input, "its zstd data make no sense in the frame",
			      at, e);
}

/* Decodes what is in the buffer, or there is room for: 1 at a frame's end, 0, or an error. */
static int decode_piece(struct zstd_frames *zstd, struct stream_chunk *out, uint64_t frame,
			struct error *e)
{
	ZSTD_inBuffer in = { zstd->stored.next, zstd->stored.left, 0 };
	ZSTD_outBuffer to;
	size_t status;

	if (out->bytes.count >= STREAM_CHUNK_MOST)
		return zstd_cannot_enter(zstd, out, e);
	if (vec_reserve(&out->bytes, ZSTD_DStreamOutSize()) < 0)
		return stream_no_memory(zstd->stored.input, e);
	to = (ZSTD_outBuffer){ out->bytes.items, out->bytes.room, out->bytes.count };
	status = ZSTD_decompressStream(zstd->z, &to, &in);
	if (ZSTD_isError(status))
		return refuse_frame(zstd, status, frame, e);
	stream_buffer_consume(&zstd->stored, in.pos);
	out->bytes.count = to.pos;
	return status == 0;
}

static int decode_frame(struct zstd_frames *zstd, struct stream_chunk *out, struct error *e)
{
	uint64_t frame = stream_buffer_in_source(&zstd->stored);
	int ended = 0;

	while (!ended) {
		size_t before = out->bytes.count, left = zstd->stored.left;

		ended = decode_piece(zstd, out, frame, e);
		if (ended || out->bytes.count > before || zstd->stored.left < left)
			continue;
		ended = stream_buffer_fill(&zstd->stored, e);
		if (ended == 0)
			return stream_truncated(zstd->stored.input, e);
		ended = ended < 0 ? ended : 0;
	}
	return ended;
}

static int zstd_frames_next(void *reader, struct stream_chunk *out, struct error *e)
{
	struct zstd_frames *zstd = reader;
	int more = 1;

	out->bytes.count = 0;
	out->stored_at = stream_buffer_in_source(&zstd->stored);
	while (more > 0 && out->bytes.count < STREAM_SPAN) {
		if (out->bytes.count == 0) /* empty frames belong to no chunk */
			out->stored_at = stream_buffer_in_source(&zstd->stored);
		more = begin_frame(zstd, out, e);
		if (more > 0)
			more = decode_frame(zstd, out, e);
	}
	if (more < 0)
		return more;
	out->stored_length = stream_buffer_in_source(&zstd->stored) - out->stored_at;
	return out->bytes.count > 0;
}

const struct stream_kind stream_zstd = {
	.name = "zstd",
	.codec = CODEC_STEP(CODEC_ZSTD, 0),
	.unpack = "zstd",
	.repack = "pzstd -o new.tar.zst",
	.begins = zstd_begins,
	.open = zstd_frames_open,
	.close = zstd_frames_close,
	.next = zstd_frames_next,
};
