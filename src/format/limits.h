/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * limits.h: what a packed file may ask for, whatever its format. The pages of
 * the formats in docs/formats/ say the same.
 */
#ifndef GRANARY_FORMAT_LIMITS_H
#define GRANARY_FORMAT_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checked.h"

enum {
	LIMIT_PATH_BYTES = 1024 * 1024,
	LIMIT_TARGET_BYTES = 4095, /* of a symbolic link: more, no system takes */
	LIMIT_PATHS_FREE = 256 * 1024 * 1024, /* of one packed file, see below */
	LIMIT_XATTRS = 256, /* of one file */
	LIMIT_XATTR_NAME_BYTES = 255,
	LIMIT_XATTR_VALUE_BYTES = 64 * 1024,
	LIMIT_XATTR_TOTAL_BYTES = 1024 * 1024,
};

/*
 * What entries copy may be said in far fewer bytes than the copies have: a long
 * path is a prefix of many, a set of xattrs belongs to many files. Adds `length`
 * bytes to *total. Does the sum stay within `free` bytes and 16 for each byte of
 * the window? *total stays as it is where not.
 */
static inline bool limit_sum(uint64_t *total, uint64_t length, uint64_t window,
			     uint64_t free)
{
	uint64_t sum, most;

	if (!checked_add(*total, length, &sum))
		return false;
	if (!checked_mul(window, 16, &most) || !checked_add(most, free, &most))
		most = UINT64_MAX;
	if (sum > most)
		return false;
	*total = sum;
	return true;
}

/* The same for the paths of one packed file. */
static inline bool limit_paths(uint64_t *total, size_t length, uint64_t window)
{
	return limit_sum(total, length, window, LIMIT_PATHS_FREE);
}

#endif
