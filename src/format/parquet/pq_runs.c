/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/parquet/pq_runs.h"

#include <errno.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "base/checked.h"

enum { VARINT_BYTES = 10, WIDTH_MOST = 32, DELTA_WIDTH_MOST = 64, MINIBLOCKS_MOST = 512,
       BLOCK_MOST = 1 << 20 };

static bool take_varint(const unsigned char **at, const unsigned char *end, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < VARINT_BYTES && *at < end; i++) {
		unsigned char byte = *(*at)++;

		*out |= (uint64_t)(byte & 127) << (7 * i);
		if (byte < 128)
			return i < VARINT_BYTES - 1 || byte < 2;
	}
	return false;
}

/* The `width` bits at `bit`, the lowest first; all of them are there. */
static uint64_t bits_at(const unsigned char *bytes, uint64_t bit, unsigned width)
{
	const unsigned char *from = bytes + bit / 8;
	unsigned skip = bit % 8, n = (skip + width + 7) / 8;
	uint64_t value = little_endian(from, n < 8 ? n : 8) >> skip;

	if (n > 8)
		value |= (uint64_t)from[8] << (64 - skip);
	return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

/* ---- Runs ---- */

unsigned pq_bits_of(unsigned most)
{
	unsigned bits = 0;

	for (; most; most >>= 1)
		bits++;
	return bits;
}

void pq_runs_begin(struct pq_runs *runs, const unsigned char *bytes, size_t n, unsigned width)
{
	*runs = (struct pq_runs){ .at = bytes, .end = bytes + n, .width = width };
}

static int begin_run(struct pq_runs *runs)
{
	unsigned bytes = (runs->width + 7) / 8;
	uint64_t head, length;

	if (runs->width > WIDTH_MOST || !take_varint(&runs->at, runs->end, &head))
		return -EBADMSG;
	runs->left = head >> 1;
	runs->packed = NULL;
	length = (uint64_t)(runs->end - runs->at);
	if (!(head & 1)) {
		if (length < bytes)
			return -EBADMSG;
		runs->value = (uint32_t)little_endian(runs->at, bytes);
		runs->at += bytes;
		return runs->left ? 0 : -EBADMSG;
	}
	/* groups of 8 values; the last one may be cut off behind the values that count */
	if (runs->left == 0 || runs->left > UINT32_MAX)
		return -EBADMSG;
	runs->packed = runs->at;
	runs->bit = 0;
	if (runs->left * runs->width <= length) {
		runs->at += runs->left * runs->width;
		runs->left *= 8;
	} else {
		runs->left = length * 8 / runs->width;
		runs->at = runs->end;
	}
	return runs->left ? 0 : -EBADMSG;
}

int pq_runs_next(struct pq_runs *runs, uint32_t *out)
{
	int err = 0;

	if (runs->width == 0 && runs->at == runs->end && runs->left == 0) {
		*out = 0; /* a dictionary of one */
		return 0;
	}
	if (runs->left == 0)
		err = begin_run(runs);
	if (err)
		return err;
	runs->left--;
	*out = runs->value;
	if (runs->packed) {
		*out = (uint32_t)bits_at(runs->packed, runs->bit, runs->width);
		runs->bit += runs->width;
	}
	return 0;
}

/* ---- Deltas ---- */

struct deltas {
	const unsigned char *at, *end;
	uint64_t per_block, miniblocks, left;
	uint64_t last;
};

static bool take_zigzag(struct deltas *deltas, uint64_t *out)
{
	if (!take_varint(&deltas->at, deltas->end, out))
		return false;
	*out = *out >> 1 ^ -(*out & 1);
	return true;
}

/* A miniblock of `n` values, of which the last ones may be padding. */
static int read_miniblock(struct deltas *deltas, uint64_t n, unsigned width, uint64_t least,
			  struct pq_numbers *out)
{
	uint64_t bytes = n * width / 8;

	if (width > DELTA_WIDTH_MOST || bytes > (uint64_t)(deltas->end - deltas->at))
		return -EBADMSG;
	for (uint64_t i = 0; i < n && deltas->left; i++, deltas->left--) {
		deltas->last += least + (width ? bits_at(deltas->at, i * width, width) : 0);
		if (vec_push(out, (int64_t)deltas->last) < 0)
			return -ENOMEM;
	}
	deltas->at += bytes;
	return 0;
}

static int read_block(struct deltas *deltas, struct pq_numbers *out)
{
	const unsigned char *widths;
	uint64_t least;
	int err = 0;

	if (!take_zigzag(deltas, &least) ||
	    deltas->miniblocks > (uint64_t)(deltas->end - deltas->at))
		return -EBADMSG;
	widths = deltas->at;
	deltas->at += deltas->miniblocks;
	for (uint64_t i = 0; i < deltas->miniblocks && deltas->left && !err; i++)
		err = read_miniblock(deltas, deltas->per_block / deltas->miniblocks, widths[i],
				     least, out);
	return err;
}

int pq_deltas_read(const unsigned char *bytes, size_t n, uint64_t most, struct pq_numbers *out,
		   size_t *used)
{
	struct deltas deltas = { .at = bytes, .end = bytes + n };
	int err = 0;

	if (!take_varint(&deltas.at, deltas.end, &deltas.per_block) ||
	    !take_varint(&deltas.at, deltas.end, &deltas.miniblocks) ||
	    !take_varint(&deltas.at, deltas.end, &deltas.left) ||
	    !take_zigzag(&deltas, &deltas.last) || deltas.left > most ||
	    deltas.miniblocks == 0 || deltas.miniblocks > MINIBLOCKS_MOST ||
	    deltas.per_block == 0 || deltas.per_block > BLOCK_MOST ||
	    deltas.per_block % (deltas.miniblocks * 8))
		return -EBADMSG;
	if (deltas.left) {
		deltas.left--;
		err = vec_push(out, (int64_t)deltas.last);
	}
	while (deltas.left && !err)
		err = read_block(&deltas, out);
	*used = (size_t)(deltas.at - bytes);
	return err;
}
