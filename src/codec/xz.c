/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An .xz stream: LZMA2 and the filters for machine code (BCJ). And the LZMA of zip:
 * version and size of the properties (4 bytes), the properties (5 bytes), and the stream,
 * with or without a mark at its end (https://pkware.com/appnote, 5.8.8).
 */
#include "codec/codec.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>

#include "base/bytes.h"

/*
 * A stream may request a dictionary of up to 4 GiB, however short it is. This limit
 * admits all that `xz -9` writes.
 */
static const uint64_t MEMORY_MOST = (uint64_t)66 << 20;

/* Bytes behind the end of the stream are ignored, as in Linux. */
static ssize_t xz_decode(const void *in, size_t n, void *out, size_t room,
			 uint32_t parameter)
{
	uint64_t memory = MEMORY_MOST;
	size_t used = 0, got = 0;
	lzma_ret status = lzma_stream_buffer_decode(&memory, 0, NULL, in, &used, n,
						    out, &got, room);

	if (status == LZMA_MEM_ERROR)
		return -ENOMEM;
	return status == LZMA_OK ? (ssize_t)got : -EBADMSG;
}

const struct codec codec_xz = { .name = "xz", .decode = xz_decode };

enum { ZIP_HEAD = 4, PROPERTIES = 5, SIZE_BYTES = 8 };
enum { ALONE_HEAD = PROPERTIES + SIZE_BYTES };

/* The header of an .lzma file, which has the size of what is in it. */
static void make_alone_head(const unsigned char *in, size_t room,
			    unsigned char head[ALONE_HEAD])
{
	uint64_t size = room;

	memcpy(head, in + ZIP_HEAD, PROPERTIES);
	for (unsigned i = 0; i < SIZE_BYTES; i++)
		head[PROPERTIES + i] = (unsigned char)(size >> 8 * i);
}

static lzma_ret decode_alone(lzma_stream *stream, const unsigned char *head,
			     const unsigned char *in, size_t n)
{
	lzma_ret status;

	stream->next_in = head;
	stream->avail_in = ALONE_HEAD;
	status = lzma_code(stream, LZMA_RUN);
	if (status != LZMA_OK || stream->avail_in)
		return status;
	stream->next_in = in + ZIP_HEAD + PROPERTIES;
	stream->avail_in = n - ZIP_HEAD - PROPERTIES;
	return lzma_code(stream, LZMA_FINISH);
}

static ssize_t zip_lzma_decode(const void *in, size_t n, void *out, size_t room,
			       uint32_t parameter)
{
	unsigned char head[ALONE_HEAD];
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status;
	size_t got;

	(void)parameter;
	if (n < ZIP_HEAD + PROPERTIES ||
	    little_endian((const unsigned char *)in + 2, 2) != PROPERTIES)
		return -EBADMSG;
	make_alone_head(in, room, head);
	stream.next_out = out;
	stream.avail_out = room;
	status = lzma_alone_decoder(&stream, MEMORY_MOST);
	if (status == LZMA_OK)
		status = decode_alone(&stream, head, in, n);
	got = room - stream.avail_out;
	lzma_end(&stream);
	if (status == LZMA_MEM_ERROR)
		return -ENOMEM;
	return status == LZMA_STREAM_END ? (ssize_t)got : -EBADMSG;
}

const struct codec codec_zip_lzma = { .name = "LZMA of zip", .decode = zip_lzma_decode };
