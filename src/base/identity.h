/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * identity.h: detects whether a packed file is another, or has changed.
 *
 * Two sources with equal size, time and samples are assumed to hold the same bytes. A
 * small change between the sampled pages, with the same size and time, is not detected.
 */
#ifndef GRANARY_BASE_IDENTITY_H
#define GRANARY_BASE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct identity {
	uint64_t size;    /* bytes */
	int64_t mtime_ns; /* since the epoch; 0 for most block devices */
	uint64_t digest;  /* XXH3-64 of the first and the last 4 KiB; of a block device,
			     of more */
	uint64_t samples; /* XXH3-64 of sampled pages, each seeded with the hash of those
			     before; 0: unknown, as in an index of 0.1, or after a
			     failed read */
	uint64_t number;  /* inode number; 0: unknown, as in an index of 0.1, or
			     different after each mount */
};

/*
 * Some filesystems store whole seconds (squashfs, some NFS servers), so a copy that keeps
 * its time has another one there. Times are equal if one of them has no nanoseconds and
 * the seconds are the same.
 *
 * This misses a file that is written twice within a second, with the same size, beginning
 * and end, if one of its times has no nanoseconds. With whole seconds such a change
 * cannot be seen; else one time in a thousand million has no nanoseconds by chance.
 */
static inline bool identity_same_time(const struct identity *a, const struct identity *b)
{
	const int64_t second = INT64_C(1000000000);
	int64_t x = a->mtime_ns % second, y = b->mtime_ns % second;

	if (a->mtime_ns == b->mtime_ns)
		return true;
	/* rounds down before 1970 too, without overflow */
	return (x == 0 || y == 0) && a->mtime_ns / second - (x < 0) ==
					     b->mtime_ns / second - (y < 0);
}

/* The property that differs, for messages; NULL: none. */
static inline const char *identity_difference(const struct identity *a,
					      const struct identity *b)
{
	if (a->size != b->size)
		return "size";
	if (!identity_same_time(a, b))
		return "time of change";
	if (a->digest != b->digest)
		return "beginning or end";
	if (a->samples && b->samples && a->samples != b->samples)
		return "middle";
	return NULL;
}

static inline bool identity_equal(const struct identity *a, const struct identity *b)
{
	return !identity_difference(a, b);
}

#endif
