/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A zlib stream: what HDF5 calls deflate and squashfs gzip. By libdeflate, which decodes
 * a whole buffer two to three times as fast as zlib does.
 */
#include "codec/codec.h"

#include <errno.h>
#include <libdeflate.h>

/* What follows the end of the stream is left alone, as HDF5 and Linux do. */
static ssize_t decode(const void *in, size_t n, void *out, size_t room,
		      uint32_t parameter)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	enum libdeflate_result result;
	size_t written = 0;

	(void)parameter;
	if (!decompressor)
		return -ENOMEM;
	result = libdeflate_zlib_decompress_ex(decompressor, in, n, out, room, NULL,
					       &written);
	libdeflate_free_decompressor(decompressor);
	return result == LIBDEFLATE_SUCCESS ? (ssize_t)written : -EBADMSG;
}

const struct codec codec_zlib = { .name = "zlib", .decode = decode };
