/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seeded_order.h: a shuffle that gives the same order for a seed on every machine.
 *
 * Fisher-Yates from the last place down: place i is swapped with a place from 0 to i. The
 * random numbers are those of splitmix64 (Steele, Lea and Flood 2014), started with the
 * seed. A number above the largest multiple of i + 1 is drawn again, so that no place is
 * favoured.
 */
#ifndef GRANARY_PACKER_SEEDED_ORDER_H
#define GRANARY_PACKER_SEEDED_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct shuffle {
	uint64_t state;
};

uint64_t shuffle_next(struct shuffle *shuffle);

/* A uniform number from 0 to below - 1; `below` is at least 1. */
uint64_t shuffle_below(struct shuffle *shuffle, uint64_t below);
void shuffle_order(uint32_t *order, size_t count, uint64_t seed);

#endif
