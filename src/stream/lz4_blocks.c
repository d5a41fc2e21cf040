/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lz4 frames (lz4_Frame_format.md, 1.6.3): a stream is entered at its blocks, of which each
 * is a chunk, where these do not depend on one another: lz4's default. The checksums of
 * blocks and of contents are compared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "stream/stream_buffer.h"

enum {
	FRAME_HEADER = 7, /* bytes, at least: magic, two of flags, checksum */
	FRAME_HEADER_MOST = 19,
	INDEPENDENT = 0x20, /* flags: blocks do not depend on one another, */
	BLOCK_SUM = 0x10,   /* each has a checksum, */
	HAS_SIZE = 8,       /* the size of the contents is given, */
	CONTENT_SUM = 4,    /* and a checksum of them */
	HAS_DICTIONARY = 1,
	VERSION_MASK = 0xc0,
	VERSION = 0x40,
	WORD = 4,
};

#define LZ4_MAGIC UINT32_C(0x184d2204)
#define SKIPPABLE UINT32_C(0x184d2a50) /* and 15 more */
#define IS_STORED (UINT32_C(1) << 31)  /* of a block's size: it is not compressed */

struct lz4_blocks {
	struct stream_buffer stored;
	bool in_frame;
	unsigned flags;
	size_t block_most;     /* decoded bytes of a block */
	XXH32_state_t *sum;    /* of the frame's contents so far */
	VEC(unsigned char) block; /* the stored bytes of one */
};

static bool lz4_begins(const unsigned char *head, size_t n)
{
	return n >= FRAME_HEADER && little_endian(head, WORD) == LZ4_MAGIC &&
	       (head[WORD] & VERSION_MASK) == VERSION;
}

static void *lz4_blocks_open(struct stream_input *input)
{
	struct lz4_blocks *lz4 = calloc(1, sizeof(*lz4));

	if (!lz4)
		return NULL;
	lz4->stored.input = input;
	lz4->sum = XXH32_createState();
	if (lz4->sum)
		return lz4;
	free(lz4);
	return NULL;
}

static void lz4_blocks_close(void *reader)
{
	struct lz4_blocks *lz4 = reader;

	XXH32_freeState(lz4->sum);
	vec_free(&lz4->block);
	free(lz4);
}

static int lz4_need(struct lz4_blocks *lz4, size_t n, struct error *e)
{
	int more = stream_buffer_need(&lz4->stored, n, e);

	if (more > 0)
		return 0;
	return more < 0 ? more : stream_truncated(lz4->stored.input, e);
}

static int lz4_damaged(struct lz4_blocks *lz4, const char *what, struct error *e)
{
	return stream_damaged(lz4->stored.input, what, stream_buffer_in_source(&lz4->stored), e);
}

/* A number of 4 bytes that is passed: 0 or an error. */
static int take_word(struct lz4_blocks *lz4, uint32_t *out, struct error *e)
{
	int err = lz4_need(lz4, WORD, e);

	if (err)
		return err;
	*out = (uint32_t)little_endian(lz4->stored.next, WORD);
	stream_buffer_consume(&lz4->stored, WORD);
	return 0;
}

/* Passes bytes that hold no contents: 0 or an error. */
static int pass_bytes(struct lz4_blocks *lz4, uint64_t n, struct error *e)
{
	while (n) {
		int err = lz4->stored.left ? 0 : lz4_need(lz4, 1, e);
		size_t step = lz4->stored.left < n ? lz4->stored.left : (size_t)n;

		if (err)
			return err;
		stream_buffer_consume(&lz4->stored, step);
		n -= step;
	}
	return 0;
}

static int refuse_linked(const struct lz4_blocks *lz4, struct error *e)
{
	return stream_refuse_entry(lz4->stored.input, &stream_lz4,
				   "its lz4 blocks depend on one another, or on a dictionary",
				   e);
}

static int parse_frame(struct lz4_blocks *lz4, struct error *e)
{
	const unsigned char *head = lz4->stored.next;
	size_t length = FRAME_HEADER, code;

	lz4->flags = head[WORD];
	code = head[WORD + 1] >> 4 & 7;
	length += lz4->flags & HAS_SIZE ? 8U : 0U;
	length += lz4->flags & HAS_DICTIONARY ? 4U : 0U;
	if (lz4->stored.left < length)
		return stream_truncated(lz4->stored.input, e);
	if ((lz4->flags & VERSION_MASK) != VERSION || code < 4 ||
	    (XXH32(head + WORD, length - WORD - 1, 0) >> 8 & 255) != head[length - 1])
		return lz4_damaged(lz4, "the header of the lz4 frame is not right", e);
	if (!(lz4->flags & INDEPENDENT) || lz4->flags & HAS_DICTIONARY)
		return refuse_linked(lz4, e);
	lz4->block_most = (size_t)1 << (8 + 2 * code);
	XXH32_reset(lz4->sum, 0);
	stream_buffer_consume(&lz4->stored, length);
	lz4->in_frame = true;
	return 0;
}

/* At the begin of a frame, skippable ones passed: 1; 0 at the end; or an error. */
static int lz4_begin_frame(struct lz4_blocks *lz4, struct error *e)
{
	for (;;) {
		int more = stream_buffer_need(&lz4->stored, FRAME_HEADER_MOST, e), err;
		uint32_t magic, size;

		if (more < 0 || lz4->stored.left == 0)
			return more < 0 ? more : 0;
		err = lz4_need(lz4, FRAME_HEADER, e);
		magic = err ? 0 : (uint32_t)little_endian(lz4->stored.next, WORD);
		if (!err && magic == LZ4_MAGIC) {
			err = parse_frame(lz4, e);
			return err ? err : 1;
		}
		if (!err && (magic & ~UINT32_C(15)) != SKIPPABLE)
			err = lz4_damaged(lz4, "there is no lz4 frame", e);
		if (!err)
			err = take_word(lz4, &magic, e);
		if (!err)
			err = take_word(lz4, &size, e);
		if (!err)
			err = pass_bytes(lz4, size, e);
		if (err)
			return err;
	}
}

/* Behind the last block: the checksum of the contents. */
static int end_frame(struct lz4_blocks *lz4, struct error *e)
{
	uint32_t sum = 0;
	int err = lz4->flags & CONTENT_SUM ? take_word(lz4, &sum, e) : 0;

	lz4->in_frame = false;
	if (!err && lz4->flags & CONTENT_SUM && sum != XXH32_digest(lz4->sum))
		return lz4_damaged(lz4, "the checksum does not match of the lz4 frame that ends",
				   e);
	return err;
}

static int read_stored_block(struct lz4_blocks *lz4, size_t n, struct error *e)
{
	lz4->block.count = 0;
	if (vec_reserve(&lz4->block, n) < 0)
		return stream_no_memory(lz4->stored.input, e);
	while (lz4->block.count < n) {
		int err = lz4->stored.left ? 0 : lz4_need(lz4, 1, e);
		size_t step = n - lz4->block.count;

		if (err)
			return err;
		if (step > lz4->stored.left)
			step = lz4->stored.left;
		memcpy(lz4->block.items + lz4->block.count, lz4->stored.next, step);
		lz4->block.count += step;
		stream_buffer_consume(&lz4->stored, step);
	}
	return 0;
}

static int decode_lz4_block(struct lz4_blocks *lz4, struct stream_chunk *out, struct error *e)
{
	size_t n = lz4->block.count;
	int got = (int)n;

	if (vec_reserve(&out->bytes, lz4->block_most) < 0)
		return stream_no_memory(lz4->stored.input, e);
	if (out->skipped)
		memcpy(out->bytes.items, lz4->block.items, n);
	else
		got = LZ4_decompress_safe((const char *)lz4->block.items,
					  (char *)out->bytes.items, (int)n,
					  (int)lz4->block_most);
	if (got < 0)
		return stream_damaged(lz4->stored.input,
				      "its lz4 data make no sense in the block",
				      out->stored_at, e);
	out->bytes.count = (size_t)got;
	XXH32_update(lz4->sum, out->bytes.items, out->bytes.count);
	return 0;
}

/* The block whose size has been read: 0 or an error. */
static int lz4_read_block(struct lz4_blocks *lz4, uint32_t size, struct stream_chunk *out,
			  struct error *e)
{
	uint32_t sum = 0;
	int err;

	out->skipped = size >> 31;
	out->stored_at = stream_buffer_in_source(&lz4->stored);
	out->stored_length = size & ~IS_STORED;
	if (out->stored_length > lz4->block_most)
		return lz4_damaged(lz4, "the size of the lz4 block is not right", e);
	err = read_stored_block(lz4, (size_t)out->stored_length, e);
	if (!err && lz4->flags & BLOCK_SUM)
		err = take_word(lz4, &sum, e);
	if (!err && lz4->flags & BLOCK_SUM &&
	    sum != XXH32(lz4->block.items, lz4->block.count, 0))
		err = stream_damaged(lz4->stored.input,
				     "the checksum does not match of the lz4 block",
				     out->stored_at, e);
	return err ? err : decode_lz4_block(lz4, out, e);
}

static int lz4_blocks_next(void *reader, struct stream_chunk *out, struct error *e)
{
	struct lz4_blocks *lz4 = reader;

	out->bytes.count = 0;
	while (out->bytes.count == 0) {
		int more = lz4->in_frame ? 1 : lz4_begin_frame(lz4, e), err;
		uint32_t size;

		if (more <= 0)
			return more;
		err = take_word(lz4, &size, e);
		if (!err)
			err = size ? lz4_read_block(lz4, size, out, e) : end_frame(lz4, e);
		if (err)
			return err;
	}
	return 1;
}

const struct stream_kind stream_lz4 = {
	.name = "lz4",
	.codec = CODEC_STEP(CODEC_LZ4, 0),
	.unpack = "lz4",
	.repack = "lz4 -BI >new.tar.lz4",
	.begins = lz4_begins,
	.open = lz4_blocks_open,
	.close = lz4_blocks_close,
	.next = lz4_blocks_next,
};
