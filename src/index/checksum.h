/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checksum.h: a file's checksum: XXH3-64, seed 0 (github.com/Cyan4973/xxHash,
 * doc/xxhash_spec.md). It detects damage, not malice.
 *
 * Threads: a struct sum belongs to one thread at a time.
 */
#ifndef GRANARY_INDEX_CHECKSUM_H
#define GRANARY_INDEX_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t sum_of(const void *bytes, size_t length);

/* The same for bytes in pieces. NULL: out of memory. */
struct sum *sum_new(void);
void sum_free(struct sum *sum);
void sum_begin(struct sum *sum);
void sum_add(struct sum *sum, const void *bytes, size_t length);
uint64_t sum_end(const struct sum *sum);

#endif
