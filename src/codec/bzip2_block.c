/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One block of a bzip2 stream, from any bit on: libbz2 gets it behind the header of a
 * stream, and stops where the room is filled. The checksum of the chunk stands in for that
 * of the block, which libbz2 compares where another block would begin.
 */
#include "codec/codec.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <bzlib.h>

#include "codec/bzip2_bits.h"

static const char stream_header[] = "BZh9"; /* the largest blocks */

enum { HEADER = sizeof(stream_header) - 1 };

/* The block as the only one of a stream, which the caller frees; NULL: out of memory. */
static char *make_stream(const struct codec_entry *entry, const unsigned char *in, size_t n)
{
	unsigned count = entry->bits & 255;
	unsigned char *stream = malloc(HEADER + n + 2), *bytes = malloc(n + 1);

	if (!stream || !bytes) {
		free(stream);
		free(bytes);
		return NULL;
	}
	memcpy(stream, stream_header, HEADER);
	bytes[0] = (unsigned char)(entry->bits >> 8);
	memcpy(bytes + 1, in, n);
	for (size_t i = 0; i < n + 1; i++)
		stream[HEADER + i] = bzip2_byte(bytes + !count, n + 1 - !count,
						count ? 8 - count : 0, i);
	free(bytes);
	return (char *)stream;
}

static ssize_t bzip2_decode_at(void *context, const struct codec_entry *entry, const void *in,
			       size_t n, void *out, size_t room)
{
	bz_stream z = { 0 };
	char *stream;
	int status;

	(void)context;
	if (n == 0 || n > INT_MAX - HEADER || room > INT_MAX)
		return -EBADMSG;
	stream = make_stream(entry, in, n);
	if (!stream || BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK) {
		free(stream);
		return -ENOMEM;
	}
	z.next_in = stream;
	z.avail_in = (unsigned)(HEADER + n + 1);
	z.next_out = out;
	z.avail_out = (unsigned)room;
	status = BZ2_bzDecompress(&z);
	room -= z.avail_out;
	n = z.avail_out;
	BZ2_bzDecompressEnd(&z);
	free(stream);
	if (status == BZ_MEM_ERROR)
		return -ENOMEM;
	return n == 0 || status == BZ_OK || status == BZ_STREAM_END ? (ssize_t)room : -EBADMSG;
}

/* libbz2 has nothing that could be kept. */
static void *bzip2_new(void)
{
	return malloc(1);
}

const struct codec codec_bzip2_block = { .name = "bzip2", .decode_at = bzip2_decode_at,
					 .context_new = bzip2_new, .context_free = free };
