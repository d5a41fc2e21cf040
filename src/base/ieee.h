/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ieee.h: the floats of IEEE 754 by their bits. */
#ifndef GRANARY_BASE_IEEE_H
#define GRANARY_BASE_IEEE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* 1 bit of sign, 5 of exponent, 10 of fraction. */
static inline double ieee_half(uint64_t half)
{
	int exponent = (int)(half >> 10 & 31);
	double value = (double)(half & 1023);

	if (exponent == 31)
		value = value > 0 ? __builtin_nan("") : __builtin_inf();
	else if (exponent == 0)
		value = value / (1 << 24);
	else
		value = (value + 1024) * (double)(UINT64_C(1) << exponent) / (1 << 25);
	return half & 0x8000 ? -value : value;
}

/* The value of a float of 2, 4 or 8 bytes. */
static inline double ieee_value(uint64_t bits, unsigned bytes)
{
	uint32_t word = (uint32_t)bits;
	float single;
	double value;

	if (bytes == 2)
		return ieee_half(bits);
	memcpy(&single, &word, sizeof(single));
	memcpy(&value, &bits, sizeof(value));
	return bytes == 4 ? (double)single : value;
}

/* Is it a whole number that a double tells from its neighbours? It is left in *out. */
static inline bool ieee_whole(double value, int64_t *out)
{
	const double most = 9007199254740992.0; /* 2^53 */

	if (!(value >= -most && value <= most))
		return false;
	*out = (int64_t)value;
	return !((double)*out < value || (double)*out > value);
}

#endif
