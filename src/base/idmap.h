/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idmap.h: a hash table from the caller's keys to 32-bit numbers.
 *
 * The table stores hashes and numbers only; a callback compares a number's key. Use a
 * secret seed for untrusted keys. Not for concurrent use.
 */
#ifndef GRANARY_BASE_IDMAP_H
#define GRANARY_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint32_t hash;
	uint32_t id_plus_1; /* 0: free */
};

struct idmap {
	struct idmap_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t used;
};

typedef bool idmap_match(const void *context, uint32_t id, const void *key);

/* The slot whose number matches, or NULL. Valid until the next insertion. */
struct idmap_slot *idmap_find(const struct idmap *map, uint32_t hash,
			      idmap_match *match, const void *context,
			      const void *key);

/* Adds a number with a new key: 0 or -ENOMEM. */
int idmap_insert(struct idmap *map, uint32_t hash, uint32_t id);
void idmap_free(struct idmap *map);

#endif
