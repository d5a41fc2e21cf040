/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"

#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

uint64_t hash_random(void)
{
	struct timespec now;
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number))
		return number;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&number;
}

/* 0: not made yet. Of several threads the first sets it. */
static uint64_t secret(void)
{
	static _Atomic uint64_t made;
	uint64_t number = atomic_load_explicit(&made, memory_order_relaxed), none = 0;

	if (number)
		return number;
	number = hash_random() | 1;
	return atomic_compare_exchange_strong(&made, &none, number) ? number : none;
}

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t salt)
{
	return XXH3_64bits_withSeed(bytes, n, secret() ^ salt);
}

uint64_t hash_number(uint64_t number, uint64_t salt)
{
	return hash_bytes(&number, sizeof(number), salt);
}

uint64_t hash_digest(uint64_t before, const void *bytes, size_t n)
{
	return XXH3_64bits_withSeed(bytes, n, before);
}
