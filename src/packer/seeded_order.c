/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/seeded_order.h"

uint64_t shuffle_next(struct shuffle *shuffle)
{
	uint64_t z = shuffle->state += 0x9e3779b97f4a7c15U;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

uint64_t shuffle_below(struct shuffle *shuffle, uint64_t below)
{
	/* 2^64 mod below: the number of largest values to reject */
	uint64_t surplus = (UINT64_MAX % below + 1) % below;
	uint64_t number;

	do
		number = shuffle_next(shuffle);
	while (surplus && number > UINT64_MAX - surplus);
	return number % below;
}

void shuffle_order(uint32_t *order, size_t count, uint64_t seed)
{
	struct shuffle shuffle = { seed };

	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)shuffle_below(&shuffle, i);
		uint32_t moved = order[i - 1];

		order[i - 1] = order[other];
		order[other] = moved;
	}
}
