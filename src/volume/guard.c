/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.c: checks the bytes before an extent, which prove that the extent is the right
 * one.
 *
 * HDF5 keeps rows of variable length in global heaps (HDF5 File Format Specification 3.0,
 * III.E "Global Heap"): each object has a header of 2 bytes index, 2 bytes reference
 * count, 4 reserved bytes and 8 bytes of size, little endian. The indexer finds a row by
 * its descriptor alone: a million headers would be a million reads.
 */
#include "volume/guard.h"

#include <errno.h>

#include "base/bytes.h"

enum { HEAP_HEADER_BYTES = 16 };

static bool heap_header_fits(const unsigned char *header, uint64_t length)
{
	return little_endian(header, 2) != 0 && little_endian(header + 8, 8) == length;
}

/*
 * For an object that the indexer did not read: libhdf5 may reuse index 1 later in the
 * collection.
 */
static bool first_header_fits(const unsigned char *header, uint64_t length)
{
	return little_endian(header, 2) == 1 && heap_header_fits(header, length);
}

/* By enum volume_guard. */
static const struct {
	size_t size; /* bytes that lie before the extent */
	bool (*fits)(const unsigned char *bytes, uint64_t length);
} guards[] = {
	[GUARD_HDF5_HEAP] = { HEAP_HEADER_BYTES, heap_header_fits },
	[GUARD_HDF5_FIRST] = { HEAP_HEADER_BYTES, first_header_fits },
};

bool guard_is_known(enum volume_guard guard)
{
	return guard == GUARD_NONE || guard == GUARD_LMDB ||
	       ((size_t)guard < sizeof(guards) / sizeof(*guards) && guards[guard].fits);
}

int guard_check(enum volume_guard guard, guard_read *read, const void *from,
		uint64_t offset, uint64_t length)
{
	unsigned char bytes[HEAP_HEADER_BYTES];
	int err;

	if (guard == GUARD_NONE)
		return 0;
	if (offset < guards[guard].size)
		return -EBADMSG;
	err = read(from, bytes, guards[guard].size, offset - guards[guard].size);
	if (err)
		return err;
	return guards[guard].fits(bytes, length) ? 0 : -EBADMSG;
}

int guard_check_snapshot(const struct volume_snapshot *snapshot, guard_read *read,
			 const void *from)
{
	unsigned char bytes[2][8];
	uint64_t one, other, newest;
	int err = read(from, bytes[0], 8, snapshot->at);

	if (!err)
		err = read(from, bytes[1], 8, (uint64_t)snapshot->at + snapshot->distance);
	if (err)
		return err;
	one = little_endian(bytes[0], 8);
	other = little_endian(bytes[1], 8);
	newest = one > other ? one : other;
	return newest - snapshot->transaction <= 1 ? 0 : -ESTALE;
}
