/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bzip2 files, of one stream or of many (pbzip2, lbzip2): a stream is entered at its blocks,
 * which begin at any bit with a mark of 48 bits. The bits of a mark may stand within a
 * block, too: what lies between two marks is a block if libbz2 finds its checksum right.
 * Format: the file format specification of bzip2-docs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bzlib.h>

#include "codec/bzip2_bits.h"
#include "codec/codec.h"
#include "stream/stream_kind.h"

enum {
	STORED_MOST = 2 << 20, /* bytes of a block of 900 kB that does not get smaller */
	HEADER = 4,            /* bytes of a stream's: "BZh9" */
	MARK = 48,             /* bits */
	SUM = 32,
	FIRST_ROOM = 1 << 20,
	MARKS_MOST = 8, /* that are tried as the end of a block: one is by chance 1 of 2^48 */
};

#define BLOCK_MARK UINT64_C(0x314159265359)
#define END_MARK UINT64_C(0x177245385090)
#define MARK_MASK ((UINT64_C(1) << MARK) - 1)

struct bzip2_blocks {
	struct stream_input *input;
	uint64_t at;       /* the next bit of the window */
	bool in_stream, ended;
	char level;
	uint32_t sum;      /* of the stream's blocks so far */
	uint64_t ignored;
	size_t n;          /* bytes of the window from at / 8 on */
	unsigned char bytes[STORED_MOST];
	unsigned char alone[HEADER + STORED_MOST + 16]; /* a block as a stream of its own */
};

static bool bzip2_begins(const unsigned char *head, size_t n)
{
	return n >= HEADER + MARK / 8 && memcmp(head, "BZh", 3) == 0 && head[3] >= '1' &&
	       head[3] <= '9' &&
	       (memcmp(head + HEADER, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
		memcmp(head + HEADER, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

static void *bzip2_blocks_open(struct stream_input *input)
{
	struct bzip2_blocks *bzip2 = calloc(1, sizeof(*bzip2));

	if (bzip2)
		bzip2->input = input;
	return bzip2;
}

static unsigned bzip2_skip(const struct bzip2_blocks *bzip2)
{
	return (unsigned)(bzip2->at % 8);
}

static uint64_t bzip2_in_source(const struct bzip2_blocks *bzip2)
{
	return bzip2->input->base + bzip2->at / 8;
}

/* `count` bits (64 at most) from bit `from` of the bytes on; zeros behind them. */
static uint64_t get_bits(const struct bzip2_blocks *bzip2, uint64_t from, unsigned count)
{
	size_t byte = (size_t)(from / 8);
	uint64_t value = 0;

	for (unsigned i = 0; i < count; i += 8)
		value = value << 8 | bzip2_byte(bzip2->bytes, bzip2->n, (unsigned)(from % 8),
						byte + i / 8);
	return value;
}

/* The first mark from bit `from` on, or 0: there is none. */
static uint64_t find_mark(const struct bzip2_blocks *bzip2, uint64_t from)
{
	uint64_t bits = 0, least = from + MARK;

	for (size_t i = (size_t)(from / 8); i < bzip2->n; i++) {
		bits = bits << 8 | bzip2->bytes[i];
		for (unsigned shift = 8; shift-- > 0;) {
			uint64_t mark = bits >> shift & MARK_MASK, end = 8 * (i + 1) - shift;

			if (end >= least && (mark == BLOCK_MARK || mark == END_MARK))
				return end - MARK;
		}
	}
	return 0;
}

/* Copies bits into a stream of their own, with the end that libbz2 wants: its length. */
static size_t bzip2_alone(struct bzip2_blocks *bzip2, uint64_t end)
{
	unsigned skip = bzip2_skip(bzip2);
	uint64_t bits = end - skip;
	size_t n = (size_t)((bits + 7) / 8), at = HEADER + (size_t)(bits / 8);
	uint64_t tail = get_bits(bzip2, skip + bits - bits % 8, 8) >> (8 - bits % 8);
	unsigned char *out = bzip2->alone;

	memcpy(out, "BZh", 3);
	out[3] = (unsigned char)bzip2->level;
	for (size_t i = 0; i < n; i++)
		out[HEADER + i] = bzip2_byte(bzip2->bytes, bzip2->n, skip, i);
	/* the last bits of the block, the end's mark, and the block's sum as the stream's */
	for (unsigned i = 0, left = MARK + SUM; i < 11; i++) {
		uint64_t sum = get_bits(bzip2, skip + MARK, SUM);
		unsigned have = i == 0 ? (unsigned)(bits % 8) : 0, byte = have ? (unsigned)tail : 0;

		for (; have < 8; have++) {
			unsigned bit = 0;

			if (left > SUM)
				bit = END_MARK >> (left - SUM - 1) & 1;
			else if (left)
				bit = sum >> (left - 1) & 1;
			left -= left > 0;
			byte = byte << 1 | bit;
		}
		out[at + i] = (unsigned char)byte;
	}
	return at + 11;
}

/* Decodes the stream of one block: 1, 0 if it is none, or an error. */
static int bzip2_decode_alone(struct bzip2_blocks *bzip2, size_t n, struct stream_chunk *out,
			      struct error *e)
{
	bz_stream z = { .next_in = (char *)bzip2->alone, .avail_in = (unsigned)n };
	int status = BZ2_bzDecompressInit(&z, 0, 0);

	out->bytes.count = 0;
	while (status == BZ_OK) {
		size_t room;

		if (out->bytes.count >= STREAM_CHUNK_MOST ||
		    vec_reserve(&out->bytes, FIRST_ROOM) < 0) {
			status = BZ_MEM_ERROR;
			break;
		}
		room = out->bytes.room - out->bytes.count;
		z.next_out = (char *)out->bytes.items + out->bytes.count;
		z.avail_out = (unsigned)room;
		status = BZ2_bzDecompress(&z);
		out->bytes.count += room - z.avail_out;
		if (status == BZ_OK && z.avail_out) /* all is taken, and there is no end */
			status = BZ_DATA_ERROR;
	}
	BZ2_bzDecompressEnd(&z);
	if (status == BZ_MEM_ERROR)
		return stream_no_memory(bzip2->input, e);
	return status == BZ_STREAM_END;
}

static int bzip2_damaged(const struct bzip2_blocks *bzip2, const char *what, struct error *e)
{
	return stream_damaged(bzip2->input, what, bzip2_in_source(bzip2), e);
}

/* The block that begins here: 1 or an error. */
static int bzip2_read_block(struct bzip2_blocks *bzip2, struct stream_chunk *out,
			    struct error *e)
{
	unsigned skip = bzip2_skip(bzip2), bits = skip ? 8 - skip : 0;
	uint64_t end = skip + MARK;
	int found = 0;

	for (int tried = 0; !found; tried++) {
		end = find_mark(bzip2, end + 1);
		if (!end && bzip2->n < STORED_MOST)
			return stream_truncated(bzip2->input, e);
		if (!end || tried == MARKS_MOST)
			return bzip2_damaged(bzip2, "its bzip2 data make no sense in the block", e);
		found = bzip2_decode_alone(bzip2, bzip2_alone(bzip2, end), out, e);
	}
	if (found < 0)
		return found;
	out->bits = bits ? bits | (bzip2->bytes[0] & ((1U << bits) - 1)) << 8 : 0;
	out->stored_at = bzip2_in_source(bzip2) + (skip > 0);
	out->stored_length = (end + 7) / 8 - (skip > 0);
	bzip2->sum = (bzip2->sum << 1 | bzip2->sum >> 31) ^
		     (uint32_t)get_bits(bzip2, skip + MARK, SUM);
	bzip2->at += end - skip;
	return 1;
}

/* The end of a stream: compares the checksum of all its blocks. 0 or an error. */
static int bzip2_end_stream(struct bzip2_blocks *bzip2, struct error *e)
{
	uint64_t skip = bzip2_skip(bzip2);

	if (8 * (uint64_t)bzip2->n < skip + MARK + SUM)
		return stream_truncated(bzip2->input, e);
	if (get_bits(bzip2, skip + MARK, SUM) != bzip2->sum)
		return bzip2_damaged(bzip2, "the checksum does not match of the bzip2 stream that "
				     "ends", e);
	bzip2->at = (bzip2->at + MARK + SUM + 7) / 8 * 8;
	bzip2->in_stream = false;
	return 0;
}

/* Between streams. Bytes that are none are ignored, as bzip2 does. */
static int bzip2_begin_stream(struct bzip2_blocks *bzip2, struct error *e)
{
	bool first = bzip2->at == 0;

	if (bzip2_begins(bzip2->bytes, bzip2->n)) {
		bzip2->level = (char)bzip2->bytes[3];
		bzip2->at += 8 * HEADER;
		bzip2->sum = 0;
		bzip2->in_stream = true;
		return 0;
	}
	if (first)
		return stream_truncated(bzip2->input, e);
	bzip2->ignored = bzip2->n ? bzip2->input->length - bzip2->at / 8 : 0;
	bzip2->ended = true;
	return 0;
}

/* One step: 1 with a block, 0 without, or an error. */
static int bzip2_step(struct bzip2_blocks *bzip2, struct stream_chunk *out, struct error *e)
{
	ssize_t n = stream_read(bzip2->input, bzip2->bytes, STORED_MOST, bzip2->at / 8, e);
	uint64_t mark;

	if (n < 0)
		return (int)n;
	bzip2->n = (size_t)n;
	if (!bzip2->in_stream)
		return bzip2_begin_stream(bzip2, e);
	if (8 * (uint64_t)bzip2->n < bzip2_skip(bzip2) + MARK)
		return stream_truncated(bzip2->input, e);
	mark = get_bits(bzip2, bzip2_skip(bzip2), MARK);
	if (mark == END_MARK)
		return bzip2_end_stream(bzip2, e);
	return mark == BLOCK_MARK ? bzip2_read_block(bzip2, out, e) :
				    bzip2_damaged(bzip2, "there is no bzip2 block", e);
}

static int bzip2_blocks_next(void *reader, struct stream_chunk *out, struct error *e)
{
	struct bzip2_blocks *bzip2 = reader;
	int found = 0;

	out->bytes.count = 0;
	while (!bzip2->ended && (!found || (found > 0 && out->bytes.count == 0)))
		found = bzip2_step(bzip2, out, e);
	return bzip2->ended ? 0 : found;
}

static uint64_t bzip2_ignored(const void *reader)
{
	return ((const struct bzip2_blocks *)reader)->ignored;
}

const struct stream_kind stream_bzip2 = {
	.name = "bzip2",
	.codec = CODEC_STEP(CODEC_BZIP2_BLOCK, 0),
	.unpack = "bzip2",
	.repack = "pigz >new.tar.gz",
	.begins = bzip2_begins,
	.open = bzip2_blocks_open,
	.close = free,
	.next = bzip2_blocks_next,
	.ignored = bzip2_ignored,
};
