/* SPDX-License-Identifier: GPL-3.0-or-later */
/* identify.c: tells a source from others, and from its own past (base/identity.h). */
#include <xxhash.h>

#include "base/checked.h"
#include "os/steps.h"
#include "source/source_kind.h"

enum { PAGE_BYTES = 4096 };

/* Times that do not fit in 64 bits of nanoseconds are all the same one. */
static int64_t identify_nanoseconds(const struct source_owner *owner)
{
	int64_t ns;

	if (__builtin_mul_overflow(owner->mtime, INT64_C(1000000000), &ns) ||
	    __builtin_add_overflow(ns, (int64_t)owner->mtime_ns, &ns))
		return owner->mtime < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

/*
 * A device has no time of change, and the packed file may take a small part of it. So
 * more blocks are digested, ever farther apart, a few in each power of two. Each digest
 * has the one before as its seed.
 */
static int identify_add_blocks(const struct source *source, uint64_t *digest)
{
	unsigned char bytes[PAGE_BYTES];
	uint64_t size = source_size(source);

	for (uint64_t block = 1; range_within(block * PAGE_BYTES, PAGE_BYTES, size);
	     block += 1 + block / 4) {
		int err = source_pread(source, bytes, sizeof(bytes), block * PAGE_BYTES);

		if (err)
			return err;
		*digest = XXH3_64bits_withSeed(bytes, sizeof(bytes), *digest);
	}
	return 0;
}

/* The offset of a sample: in the middle of one of the equal parts. */
static uint64_t identify_place_of(const struct source *source, unsigned sample,
				  unsigned samples)
{
	uint64_t pages = source_size(source) / PAGE_BYTES;

	return pages * (2 * sample + 1) / (2 * samples) * PAGE_BYTES;
}

/*
 * A small file counts as a whole: samples in the same page count once. A page that cannot
 * be read must not make the other files unusable.
 */
uint64_t source_sample_pages(const struct source *source, unsigned samples)
{
	unsigned char bytes[PAGE_BYTES];
	uint64_t digest = source_size(source), last = UINT64_MAX;

	for (unsigned i = 0; i < samples && source_size(source) >= PAGE_BYTES; i++) {
		uint64_t at = identify_place_of(source, i, samples);

		if (at == last)
			continue;
		if (source_pread(source, bytes, sizeof(bytes), at) < 0)
			return 0;
		digest = XXH3_64bits_withSeed(bytes, sizeof(bytes), digest);
		last = at;
	}
	return digest ? digest : 1; /* 0 stands for none */
}

void source_identity_ahead(const struct source *source, unsigned samples)
{
	uint64_t size = source_size(source), end = size < PAGE_BYTES ? size : PAGE_BYTES;

	steps_record(source_path(source));
	source_hint(source, HINT_SOON, 0, end);
	source_hint(source, HINT_SOON, size - end, end);
	for (unsigned i = 0; i < samples && size >= PAGE_BYTES; i++)
		source_hint(source, HINT_SOON, identify_place_of(source, i, samples),
			    PAGE_BYTES);
}

/*
 * The digest is XXH3-64, seed 0, over the first min(size, 4096) bytes and then the last
 * min(size - 4096, 4096) bytes of the remaining ones: no byte counts twice, and of a file
 * of up to 8 KiB each byte counts.
 */
int source_identify_ends(const struct source *source, struct identity *out)
{
	unsigned char bytes[2 * PAGE_BYTES];
	uint64_t size = source_size(source);
	size_t head = size < PAGE_BYTES ? (size_t)size : PAGE_BYTES;
	uint64_t left = size - head;
	size_t tail = left < PAGE_BYTES ? (size_t)left : PAGE_BYTES;
	int err = source_pread(source, bytes, head, 0);

	if (!err)
		err = source_pread(source, bytes + head, tail, size - tail);
	if (err)
		return err;
	out->size = size;
	out->mtime_ns = identify_nanoseconds(source_owner(source));
	out->digest = XXH3_64bits(bytes, head + tail);
	out->number = source_info(source)->number;
	out->samples = 0;
	return source_info(source)->device ? identify_add_blocks(source, &out->digest)
					   : 0;
}

