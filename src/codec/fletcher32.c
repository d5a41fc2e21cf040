/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HDF5's checksum: the bytes, then their Fletcher sum in 4 bytes, little-endian. The sum
 * is over big-endian numbers of two bytes; an odd last byte is the upper half of one.
 * HDF5 before 1.6.3 swapped the two bytes of either half; both forms are accepted.
 */
#include "codec/codec.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

enum {
	SUM_SIZE = 4,
	FOLD_EVERY = 1 << 20, /* numbers that fit into the sums */
};

/* Modulo 65535, but 65535 stays: only zeros have the sum 0. */
static uint64_t fold(uint64_t sum)
{
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint32_t fletcher32(const unsigned char *in, size_t n)
{
	uint64_t first = 0, second = 0;
	size_t i = 0;

	while (n - i >= 2) {
		size_t end = (n - i) / 2 > FOLD_EVERY ? i + 2 * FOLD_EVERY :
							n - n % 2;

		for (; i < end; i += 2) {
			first += (uint64_t)in[i] << 8 | in[i + 1];
			second += first;
		}
		first = fold(first);
		second = fold(second);
	}
	if (i < n) {
		first = fold(first + ((uint64_t)in[i] << 8));
		second = fold(second + first);
	}
	return (uint32_t)(second << 16 | first);
}

static uint32_t halves_swapped(uint32_t sum)
{
	return (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
}

static ssize_t fletcher32_decode(const void *in, size_t n, void *out, size_t room,
				 uint32_t parameter)
{
	size_t plain = n - SUM_SIZE;
	uint32_t sum, stored;

	if (n < SUM_SIZE || plain > room)
		return -EBADMSG;
	sum = fletcher32(in, plain);
	stored = (uint32_t)little_endian((const unsigned char *)in + plain, SUM_SIZE);
	if (stored != sum && stored != halves_swapped(sum))
		return -EBADMSG;
	if (plain)
		memcpy(out, in, plain);
	return (ssize_t)plain;
}

static size_t fletcher32_stored_size(size_t plain)
{
	return plain > SIZE_MAX - SUM_SIZE ? SIZE_MAX : plain + SUM_SIZE;
}

const struct codec codec_fletcher32 = {
	.name = "fletcher32",
	.decode = fletcher32_decode,
	.stored_size = fletcher32_stored_size,
};
