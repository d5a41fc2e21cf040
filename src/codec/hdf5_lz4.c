/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HDF5's filter 32004: a header with the size of the chunk (8 bytes) and of a block (4),
 * then each block behind its stored size (4). A block is LZ4, or plain if the stored size
 * is the plain size. The last block may be shorter. All numbers are big-endian.
 */
#include "codec/codec.h"

#include <errno.h>
#include <string.h>

enum { HEAD_BYTES = 12, SIZE_BYTES = 4 };

static uint64_t hdf5_lz4_number(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* Decodes one block of `plain` bytes. Returns its stored bytes, or -EBADMSG. */
static ssize_t decode_block(const unsigned char *in, size_t n, unsigned char *out,
			    size_t plain)
{
	size_t stored;

	if (n < SIZE_BYTES)
		return -EBADMSG;
	stored = hdf5_lz4_number(in, SIZE_BYTES);
	if (stored > n - SIZE_BYTES)
		return -EBADMSG;
	in += SIZE_BYTES;
	if (stored == plain)
		memcpy(out, in, plain);
	else if (codec_lz4.decode(in, stored, out, plain, 0) != (ssize_t)plain)
		return -EBADMSG;
	return (ssize_t)(stored + SIZE_BYTES);
}

static ssize_t hdf5_lz4_decode(const void *stored, size_t n, void *out, size_t room,
			       uint32_t parameter)
{
	const unsigned char *in = stored, *end = in + n;
	uint64_t all, block;

	if (n < HEAD_BYTES)
		return -EBADMSG;
	all = hdf5_lz4_number(in, 8);
	block = hdf5_lz4_number(in + 8, 4);
	if (all > room || (all && block == 0))
		return -EBADMSG;
	in += HEAD_BYTES;
	for (uint64_t done = 0; done < all; done += block) {
		uint64_t plain = all - done < block ? all - done : block;
		ssize_t got = decode_block(in, (size_t)(end - in),
					   (unsigned char *)out + done, plain);

		if (got < 0)
			return got;
		in += got;
	}
	return (ssize_t)all;
}

const struct codec codec_hdf5_lz4 = { .name = "hdf5-lz4", .decode = hdf5_lz4_decode };
