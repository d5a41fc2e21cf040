/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An .xz stream: LZMA2 and the filters for machine code (BCJ). */
#include "codec/codec.h"

#include <errno.h>
#include <lzma.h>

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
