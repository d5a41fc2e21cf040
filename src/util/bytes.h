/*
 * bytes.h: numbers as files hold them.
 */
#ifndef GRANARY_UTIL_BYTES_H
#define GRANARY_UTIL_BYTES_H

#include <stdint.h>

/* The unsigned number in `n` bytes (8 at most), the lowest first. */
static inline uint64_t little_endian(const unsigned char *bytes, unsigned n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | bytes[n];
	return value;
}

#endif
