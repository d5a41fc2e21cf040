/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checked.h: arithmetic on untrusted numbers.
 *
 * Each function returns false, and does not change *out, if the result does not fit.
 */
#ifndef GRANARY_BASE_CHECKED_H
#define GRANARY_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *out)
{
	uint64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*out = sum;
	return true;
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *out)
{
	uint64_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return false;
	*out = product;
	return true;
}

/* Does [offset, offset + length) lie within [0, total)? */
static inline bool range_within(uint64_t offset, uint64_t length, uint64_t total)
{
	return offset <= total && length <= total - offset;
}

#endif
