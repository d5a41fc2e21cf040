/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An LZ4 block without a frame. */
#include "codec/codec.h"

#include <errno.h>
#include <limits.h>
#include <lz4.h>

static ssize_t lz4_decode(const void *in, size_t n, void *out, size_t room,
			  uint32_t parameter)
{
	int got;

	if (n > INT_MAX)
		return -EBADMSG;
	got = LZ4_decompress_safe(in, out, (int)n, room < INT_MAX ? (int)room : INT_MAX);
	return got < 0 ? -EBADMSG : got;
}

const struct codec codec_lz4 = { .name = "lz4", .decode = lz4_decode };
