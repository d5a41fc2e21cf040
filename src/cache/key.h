/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key.h: the keys of a dataset's cache: a kind, and a number that is unique in it.
 *
 * Keys live in memory only. Two kinds never share a key, since each number is below
 * CACHE_NUMBERS; callers keep numbers that come from an index or a packed file below it.
 */
#ifndef GRANARY_CACHE_KEY_H
#define GRANARY_CACHE_KEY_H

#include <stdint.h>

#include "base/invariant.h"

enum cache_kind {
	CACHE_CHUNK,         /* decoded, by its number in the index (volume/chunk.c) */
	CACHE_FILE_BLOCK,    /* of a file, compared with its checksum (dataset/sums.c) */
	CACHE_BLOCK,         /* of the table of blocks, by its number (volume/stage.c) */
	CACHE_ALIGNED_BLOCK, /* of a source, by both their numbers (volume/stage.c) */
	CACHE_KINDS
};

enum { CACHE_NUMBER_BITS = 62 };
#define CACHE_NUMBERS (UINT64_C(1) << CACHE_NUMBER_BITS)

_Static_assert(CACHE_KINDS <= 1 << (64 - CACHE_NUMBER_BITS), "a kind has two bits");

static inline uint64_t cache_key(enum cache_kind kind, uint64_t number)
{
	INVARIANT(number < CACHE_NUMBERS);
	return (uint64_t)kind << CACHE_NUMBER_BITS | number;
}

#endif
