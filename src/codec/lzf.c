/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LZF as HDF5's filter 32000 stores it: h5py's compression='lzf'. */
#include "codec/codec.h"

#include <errno.h>
#include <limits.h>
#include <lzf.h>

/* The library has no state. It reads a first byte even of empty input. */
static ssize_t lzf_decode(const void *in, size_t n, void *out, size_t room,
			  uint32_t parameter)
{
	unsigned got;

	if (n == 0 || n > INT_MAX)
		return -EBADMSG;
	got = lzf_decompress(in, (unsigned)n, out, room < INT_MAX ? (unsigned)room : INT_MAX);
	return got == 0 ? -EBADMSG : (ssize_t)got;
}

const struct codec codec_lzf = { .name = "lzf", .decode = lzf_decode };
