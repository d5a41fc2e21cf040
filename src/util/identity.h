/*
 * identity.h: how a packed file is told from another, or from its own past.
 *
 * Two sources with the same identity are taken to hold the same bytes. A
 * change in the middle that keeps size and mtime is not seen.
 */
#ifndef GRANARY_UTIL_IDENTITY_H
#define GRANARY_UTIL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

struct identity {
	uint64_t size;    /* bytes */
	int64_t mtime_ns; /* since the epoch */
	uint64_t digest;  /* XXH3-64 of the first and the last 4 KiB */
};

static inline bool identity_equal(const struct identity *a, const struct identity *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       a->digest == b->digest;
}

#endif
