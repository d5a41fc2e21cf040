/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash.h: the hash of bytes and numbers: XXH3-64.
 *
 * Hashes in an index are in index/checksum.h and base/identity.h.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_BASE_HASH_H
#define GRANARY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * For tables in the memory of this process. Each process has its own secret, so an
 * attacker cannot choose keys that collide. `salt` separates equal bytes in different
 * roles, such as names in two directories.
 */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t salt);
uint64_t hash_number(uint64_t number, uint64_t salt);

/* A digest, equal in every process. `before`: 0, or the digest of the preceding bytes. */
uint64_t hash_digest(uint64_t before, const void *bytes, size_t n);

/* An unpredictable number; a weak one early in boot. */
uint64_t hash_random(void);

#endif
