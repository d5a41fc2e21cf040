/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pq_runs.h: packed integers of Parquet, in memory: runs of levels and of numbers in a
 * dictionary, and deltas. Private to format/parquet/. Facts: Encodings.md of
 * apache/parquet-format.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_PARQUET_PQ_RUNS_H
#define GRANARY_FORMAT_PARQUET_PQ_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Runs of one value, or of bit-packed ones (RLE / bit-packing hybrid). */
struct pq_runs {
	const unsigned char *at, *end;
	unsigned width;  /* bits of a value: 32 at most */
	uint64_t left;   /* values of the run at hand */
	uint32_t value;  /* of all of them, */
	const unsigned char *packed; /* or where they are packed */
	uint64_t bit;
};

void pq_runs_begin(struct pq_runs *runs, const unsigned char *bytes, size_t n, unsigned width);

/* The next value: 0, or -EBADMSG where the bytes end or make no sense. */
int pq_runs_next(struct pq_runs *runs, uint32_t *out);

/* Bits that the numbers 0 to `most` take. */
unsigned pq_bits_of(unsigned most);

struct pq_numbers {
	int64_t *items;
	size_t count, room;
};

/*
 * Appends the integers of DELTA_BINARY_PACKED, at most `most` of them: leaves in *used how
 * many bytes they take. 0, -EBADMSG or -ENOMEM.
 */
int pq_deltas_read(const unsigned char *bytes, size_t n, uint64_t most, struct pq_numbers *out,
		   size_t *used);

#endif
