/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A zlib stream: HDF5's deflate and squashfs's gzip; a raw deflate stream, and the CRC-32
 * of what it holds: zip's. libdeflate decodes a whole buffer two to three times as fast
 * as zlib.
 */
#include "codec/codec.h"

#include <errno.h>
#include <libdeflate.h>

static void *zlib_new(void)
{
	return libdeflate_alloc_decompressor();
}

static void zlib_free(void *context)
{
	libdeflate_free_decompressor(context);
}

/* Bytes behind the end of the stream are ignored, as in HDF5 and Linux. */
static ssize_t zlib_decode(void *context, const void *in, size_t n, void *out, size_t room)
{
	size_t written = 0;

	return libdeflate_zlib_decompress_ex(context, in, n, out, room, NULL, &written) ==
			       LIBDEFLATE_SUCCESS ?
		       (ssize_t)written : -EBADMSG;
}

const struct codec codec_zlib = { .name = "zlib", .decode_with = zlib_decode,
				  .context_new = zlib_new, .context_free = zlib_free };

static ssize_t deflate_decode(void *context, const void *in, size_t n, void *out,
			      size_t room)
{
	size_t used = 0, written = 0;

	return libdeflate_deflate_decompress_ex(context, in, n, out, room, &used,
						&written) == LIBDEFLATE_SUCCESS ?
		       (ssize_t)written :
		       -EBADMSG;
}

const struct codec codec_deflate = { .name = "deflate", .decode_with = deflate_decode,
				     .context_new = zlib_new, .context_free = zlib_free };

static uint32_t crc32_sum(uint32_t sum, const void *plain, size_t n)
{
	return libdeflate_crc32(sum, plain, n);
}

const struct codec codec_crc32 = { .name = "crc32", .sum = crc32_sum };
