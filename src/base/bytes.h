/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.h: numbers of either byte order, and zeros. */
#ifndef GRANARY_BASE_BYTES_H
#define GRANARY_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The unsigned little-endian number in `n` bytes, 8 at most. */
static inline uint64_t little_endian(const unsigned char *bytes, unsigned n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | bytes[n];
	return value;
}

/* The same of a big-endian number. */
static inline uint64_t big_endian(const unsigned char *bytes, unsigned n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | *bytes++;
	return value;
}

/* Are all `n` bytes zero? */
static inline bool all_zero(const unsigned char *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

#endif
