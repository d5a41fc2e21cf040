/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index/checksum.h"

#include <xxhash.h>

/* An opaque name of XXH3_state_t. */
struct sum;

static XXH3_state_t *checksum_state_of(const struct sum *sum)
{
	return (XXH3_state_t *)(uintptr_t)sum;
}

uint64_t sum_of(const void *bytes, size_t length)
{
	return XXH3_64bits(bytes, length);
}

struct sum *sum_new(void)
{
	return (struct sum *)XXH3_createState();
}

void sum_free(struct sum *sum)
{
	XXH3_freeState(checksum_state_of(sum));
}

void sum_begin(struct sum *sum)
{
	XXH3_64bits_reset(checksum_state_of(sum));
}

void sum_add(struct sum *sum, const void *bytes, size_t length)
{
	XXH3_64bits_update(checksum_state_of(sum), bytes, length);
}

uint64_t sum_end(const struct sum *sum)
{
	return XXH3_64bits_digest(checksum_state_of(sum));
}
