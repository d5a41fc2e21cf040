/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blosc, version 1, as HDF5's filter 32001 stores it: with any compressor in it. */
#include "codec/codec.h"

#include <blosc.h>
#include <errno.h>

/*
 * The context's function has no state of its own, and starts no threads when it is to
 * use one. It takes the size of what it is given from there, hence the look before.
 */
static ssize_t decode(const void *in, size_t n, void *out, size_t room,
		      uint32_t parameter)
{
	size_t plain;
	int got;

	(void)parameter;
	if (blosc_cbuffer_validate(in, n, &plain) < 0 || plain > room)
		return -EBADMSG;
	if (plain == 0)
		return 0;
	got = blosc_decompress_ctx(in, out, plain, 1);
	return got < 0 || (size_t)got != plain ? -EBADMSG : got;
}

const struct codec codec_blosc = { .name = "blosc", .decode = decode };
