/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blosc 1, as HDF5's filter 32001 stores it, with any of its compressors. */
#include "codec/codec.h"

#include <blosc.h>
#include <errno.h>

/*
 * The _ctx function has no state, and one thread starts no others. It reads the size of
 * its input from that input, so the size is validated first.
 */
static ssize_t blosc_decode(const void *in, size_t n, void *out, size_t room,
			    uint32_t parameter)
{
	size_t plain;
	int got;

	if (blosc_cbuffer_validate(in, n, &plain) < 0 || plain > room)
		return -EBADMSG;
	if (plain == 0)
		return 0;
	got = blosc_decompress_ctx(in, out, plain, 1);
	return got < 0 || (size_t)got != plain ? -EBADMSG : got;
}

const struct codec codec_blosc = { .name = "blosc", .decode = blosc_decode };
