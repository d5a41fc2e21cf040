/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash.h: the one hash of bytes and numbers, which is XXH3-64.
 *
 * Not for what is stored in an index: index/checksum.h and base/identity.h say what those are.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_BASE_HASH_H
#define GRANARY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * For tables in the memory of this process. Each process has a secret of its own, so that
 * nobody can make keys that all fall into one place. `salt` tells apart the same bytes in
 * different roles: the names of two folders, say.
 */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t salt);
uint64_t hash_number(uint64_t number, uint64_t salt);

/* The same in every process: `before` is 0, or the digest of what comes before. */
uint64_t hash_digest(uint64_t before, const void *bytes, size_t n);

/* A number that nobody can guess; early in boot a poor one. */
uint64_t hash_random(void);

#endif
