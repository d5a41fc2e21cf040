/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * identity.h: how a packed file is told from another, or from its own past.
 *
 * Two sources with the same size, time and samples are taken to hold the same bytes. A small
 * change between the pages that are sampled, which keeps size and time, is not seen.
 */
#ifndef GRANARY_BASE_IDENTITY_H
#define GRANARY_BASE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct identity {
	uint64_t size;    /* bytes */
	int64_t mtime_ns; /* since the epoch; of most block devices 0 */
	uint64_t digest;  /* XXH3-64 of the first and the last 4 KiB; of a block device,
			     of more */
	uint64_t samples; /* of pages all over the file, in order, each with the XXH3-64 of
			     those before as its seed; 0: not known, as in an index of 0.1,
			     or where one cannot be read */
	uint64_t number;  /* the inode's; 0: not known, as in an index of 0.1, or says
			     nothing, as where it is another after each mount */
};

/*
 * Some filesystems keep whole seconds (squashfs, some NFS servers), and a copy that was made
 * with its time lies there with another one. So times are equal, too, where one of them has
 * no nanoseconds and the seconds are the same.
 *
 * What that takes wrongly: a file that was written a second time within the second of its
 * first time, to the same size and with the same beginning and end, where one of the two
 * times has no nanoseconds. On a filesystem of whole seconds nothing else can be told; with
 * nanoseconds, one time in a thousand million has none by chance.
 */
static inline bool identity_same_time(const struct identity *a, const struct identity *b)
{
	const int64_t second = INT64_C(1000000000);
	int64_t x = a->mtime_ns % second, y = b->mtime_ns % second;

	if (a->mtime_ns == b->mtime_ns)
		return true;
	/* before 1970 as well, and without a difference that could be too large */
	return (x == 0 || y == 0) && a->mtime_ns / second - (x < 0) ==
					     b->mtime_ns / second - (y < 0);
}

/* In what the contents, the time or the size differ, for messages; NULL: in nothing. */
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
