/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seeded_order.h: the same order from the same seed, on every machine.
 *
 * Fisher-Yates from the last place down: place i changes with a place from 0 to i. The
 * numbers are those of splitmix64 (Steele, Lea and Flood 2014), begun with the seed;
 * one is drawn again where it would favour some places (rejection of what lies
 * above the largest multiple of i + 1).
 */
#ifndef GRANARY_PACKER_SEEDED_ORDER_H
#define GRANARY_PACKER_SEEDED_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct shuffle {
	uint64_t state;
};

uint64_t shuffle_next(struct shuffle *shuffle);

/* A number from 0 to below - 1, each as likely; `below` is at least 1. */
uint64_t shuffle_below(struct shuffle *shuffle, uint64_t below);
void shuffle_order(uint32_t *order, size_t count, uint64_t seed);

#endif
