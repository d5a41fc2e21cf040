/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A compressed stream: read once from front to back, and then again from its entry points:
 * the same bytes both times, and an end.
 */
/* granary-fuzz: compressed */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "stream/decoded.h"

enum {
	PIECE = 64 << 10,
	READ_MOST = 96 << 20, /* bytes: a bomb may hold more */
};

/* Reads all of it, as far as READ_MOST: a hash of the bytes. */
static uint64_t hash_of(const struct source *source, uint64_t *end, int *err)
{
	static unsigned char bytes[PIECE];
	uint64_t hash = 0;

	*err = 0;
	for (*end = 0; *end < READ_MOST; *end += PIECE) {
		uint64_t known = source_size(source);
		size_t n;

		if (*end >= known)
			return hash;
		n = known - *end < PIECE ? (size_t)(known - *end) : PIECE;
		*err = source_pread(source, bytes, n, *end);
		if (*err == -ENODATA && source_size(source) < known) {
			*end -= PIECE; /* its end is known now */
			*err = 0;
			continue;
		}
		if (*err)
			return hash;
		for (size_t i = 0; i < n; i++)
			hash = hash * 31 + bytes[i];
	}
	return hash;
}

static void expect_points(const struct decoded *stream, uint64_t stored)
{
	struct stream_record record;

	decoded_record(stream, &record);
	for (uint64_t i = 0; i < record.count; i++) {
		const struct volume_chunk *chunk = &record.chunks[i];
		const struct volume_point *point = &record.points[i];

		if (chunk->stored_at > stored || chunk->stored_length > stored - chunk->stored_at ||
		    (i && chunk->start <= chunk[-1].start) ||
		    point->window + point->window_length > record.window_bytes)
			abort();
	}
}

static void try_stream(const struct source *source, const struct stream_kind *kind)
{
	uint64_t first, second, end;
	struct decoded *stream;
	struct error e = { 0 };
	int err;

	if (decoded_open(kind, source, 0, source_size(source), "fuzzed", &stream) < 0)
		abort();
	first = hash_of(decoded_source(stream), &end, &err);
	if (err) {
		if (!decoded_fault(stream, &e))
			abort();
		fuzz_expect_sentence(err, &e);
	} else {
		second = hash_of(decoded_source(stream), &end, &err);
		if (err || first != second)
			abort();
		fuzz_say("%s: the same bytes", stream_kind_name(kind));
	}
	expect_points(stream, source_size(source));
	decoded_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct stream_kind *kind = stream_kind_find(bytes, n);
	struct source_set set;
	int fd;

	if (!kind || stream_kind_needs(kind)) {
		fuzz_say("refused: no stream");
		return 0;
	}
	fd = fuzz_file(bytes, n);
	set = fuzz_source(fd);
	try_stream(set.sources[0], kind);
	source_set_close(&set);
	close(fd);
	return 0;
}
