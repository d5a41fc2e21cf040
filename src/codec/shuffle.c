/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HDF5's shuffle: the first bytes of all elements, then their second bytes, ... A partial
 * element at the end stays as it is. The parameter is the size of an element.
 */
#include "codec/codec.h"

#include <errno.h>
#include <string.h>

static inline void unshuffle(const unsigned char *in, size_t count, size_t size,
			     unsigned char *out)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < size; k++)
			out[i * size + k] = in[k * count + i];
}

/* A constant size is faster, so the sizes of numbers have their own loops. */
static void unshuffle_any(const unsigned char *in, size_t count, size_t size,
			  unsigned char *out)
{
	switch (size) {
	case 1:
		unshuffle(in, count, 1, out);
		break;
	case 2:
		unshuffle(in, count, 2, out);
		break;
	case 4:
		unshuffle(in, count, 4, out);
		break;
	case 8:
		unshuffle(in, count, 8, out);
		break;
	default:
		unshuffle(in, count, size, out);
	}
}

static ssize_t shuffle_decode(const void *in, size_t n, void *out, size_t room,
			      uint32_t size)
{
	size_t whole;

	if (n > room || size == 0)
		return -EBADMSG;
	whole = n - n % size;
	unshuffle_any(in, whole / size, size, out);
	if (n > whole)
		memcpy((unsigned char *)out + whole, (const unsigned char *)in + whole,
		       n - whole);
	return (ssize_t)n;
}

static size_t shuffle_stored_size(size_t plain)
{
	return plain;
}

const struct codec codec_shuffle = {
	.name = "shuffle",
	.decode = shuffle_decode,
	.stored_size = shuffle_stored_size,
	.parametrised = true,
};
