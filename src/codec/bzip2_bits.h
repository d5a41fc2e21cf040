/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bzip2_bits.h: blocks of bzip2 begin at any bit, the highest bit of a byte first. */
#ifndef GRANARY_CODEC_BZIP2_BITS_H
#define GRANARY_CODEC_BZIP2_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Byte `i` of the bits that begin `skip` bits (0 to 7) into these `n` bytes; zeros behind. */
static inline uint8_t bzip2_byte(const uint8_t *bytes, size_t n, unsigned skip, size_t i)
{
	unsigned both = (unsigned)(i < n ? bytes[i] : 0) << 8 | (i + 1 < n ? bytes[i + 1] : 0);

	return (uint8_t)(both << skip >> 8);
}

#endif
