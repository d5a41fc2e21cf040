/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xz files (tukaani.org/xz/xz-file-format.txt): a stream is entered at its blocks, of which
 * each is a chunk. liblzma checks each block, and the index of each stream.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "stream/stream_buffer.h"

enum {
	INDEX_BEGINS = 0, /* where a block's header would begin with its size */
	PADDING = 4,      /* bytes between two streams are zero, a multiple of these */
	FIRST_ROOM = 1 << 20,
};

/* What `xz -9` needs, and a little more: a file may ask for 4 GiB. */
static const uint64_t MEMORY_MOST = (uint64_t)100 << 20;

struct xz_blocks {
	struct stream_buffer stored;
	lzma_stream z;
	lzma_stream_flags flags; /* of the present stream */
	lzma_index_hash *index;  /* of its blocks so far; NULL: between streams */
	bool started;
};

static bool xz_begins(const unsigned char *head, size_t n)
{
	return n >= LZMA_STREAM_HEADER_SIZE && memcmp(head, "\3757zXZ", 6) == 0;
}

static void *xz_blocks_open(struct stream_input *input)
{
	struct xz_blocks *xz = calloc(1, sizeof(*xz));

	if (xz)
		xz->stored.input = input;
	return xz;
}

static void xz_blocks_close(void *reader)
{
	struct xz_blocks *xz = reader;

	lzma_end(&xz->z);
	lzma_index_hash_end(xz->index, NULL);
	free(xz);
}

static int xz_damaged(struct xz_blocks *xz, const char *what, uint64_t at, struct error *e)
{
	return stream_damaged(xz->stored.input, what, at, e);
}

/* Makes `n` bytes be there: 0, or an error, also at the end. */
static int xz_need(struct xz_blocks *xz, size_t n, struct error *e)
{
	int more = stream_buffer_need(&xz->stored, n, e);

	if (more > 0)
		return 0;
	return more < 0 ? more : stream_truncated(xz->stored.input, e);
}

/* Passes zeros between streams: 1 where a stream begins, 0 at the end, or an error. */
static int pass_stream_padding(struct xz_blocks *xz, struct error *e)
{
	int more;

	while ((more = stream_buffer_need(&xz->stored, PADDING, e)) > 0 &&
	       all_zero(xz->stored.next, PADDING))
		stream_buffer_consume(&xz->stored, PADDING);
	if (more == 0 && xz->stored.left)
		return xz_damaged(xz, "there is no xz stream",
				  stream_buffer_in_source(&xz->stored), e);
	return more;
}

/* At the begin of a stream: 1; 0 at the end of all; or an error. */
static int begin_stream(struct xz_blocks *xz, struct error *e)
{
	int more = xz->started ? pass_stream_padding(xz, e) : 1;
	uint64_t at = stream_buffer_in_source(&xz->stored);

	if (more > 0) {
		int err = xz_need(xz, LZMA_STREAM_HEADER_SIZE, e);

		more = err ? err : 1;
	}
	if (more <= 0)
		return more;
	if (lzma_stream_header_decode(&xz->flags, xz->stored.next) != LZMA_OK)
		return xz_damaged(xz, "there is no xz stream", at, e);
	stream_buffer_consume(&xz->stored, LZMA_STREAM_HEADER_SIZE);
	xz->index = lzma_index_hash_init(xz->index, NULL);
	xz->started = true;
	return xz->index ? 1 : stream_no_memory(xz->stored.input, e);
}

/* Compares the index behind the last block with the blocks: 0 or an error. */
static int check_index(struct xz_blocks *xz, struct error *e)
{
	uint64_t at = stream_buffer_in_source(&xz->stored);
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK) {
		size_t used = 0;
		int err = xz->stored.left ? 0 : xz_need(xz, 1, e);

		if (err)
			return err;
		status = lzma_index_hash_decode(xz->index, xz->stored.next, &used,
						xz->stored.left);
		stream_buffer_consume(&xz->stored, used);
	}
	return status == LZMA_STREAM_END ? 0 :
					   xz_damaged(xz, "the index is not right", at, e);
}

/* The index and the footer of a stream: 0 or an error. */
static int end_stream(struct xz_blocks *xz, struct error *e)
{
	lzma_stream_flags footer;
	int err = check_index(xz, e);

	if (!err)
		err = xz_need(xz, LZMA_STREAM_HEADER_SIZE, e);
	if (err)
		return err;
	if (lzma_stream_footer_decode(&footer, xz->stored.next) != LZMA_OK ||
	    lzma_stream_flags_compare(&xz->flags, &footer) != LZMA_OK ||
	    footer.backward_size != lzma_index_hash_size(xz->index))
		return xz_damaged(xz, "the footer of an xz stream is not right",
				  stream_buffer_in_source(&xz->stored), e);
	stream_buffer_consume(&xz->stored, LZMA_STREAM_HEADER_SIZE);
	lzma_index_hash_end(xz->index, NULL);
	xz->index = NULL;
	return 0;
}

static int refuse_block(struct xz_blocks *xz, lzma_ret status, uint64_t at, struct error *e)
{
	if (status == LZMA_MEM_ERROR)
		return stream_no_memory(xz->stored.input, e);
	return xz_damaged(xz, "its xz data make no sense in the block", at, e);
}

/* Decodes the block whose header has been read, to its end: 0 or an error. */
static int decode_block(struct xz_blocks *xz, struct stream_chunk *out, struct error *e)
{
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK) {
		int err = xz->stored.left ? 0 : xz_need(xz, 1, e);

		if (err)
			return err;
		if (out->bytes.count >= STREAM_CHUNK_MOST)
			return stream_cannot_enter(xz->stored.input, &stream_xz,
						   out->stored_at, e);
		if (vec_reserve(&out->bytes, FIRST_ROOM) < 0)
			return stream_no_memory(xz->stored.input, e);
		xz->z.next_in = xz->stored.next;
		xz->z.avail_in = xz->stored.left;
		xz->z.next_out = out->bytes.items + out->bytes.count;
		xz->z.avail_out = out->bytes.room - out->bytes.count;
		status = lzma_code(&xz->z, LZMA_RUN);
		stream_buffer_consume(&xz->stored, xz->stored.left - xz->z.avail_in);
		out->bytes.count = out->bytes.room - xz->z.avail_out;
	}
	return status == LZMA_STREAM_END ? 0 : refuse_block(xz, status, out->stored_at, e);
}

static void free_filters(lzma_filter *filters)
{
	for (int i = 0; i < LZMA_FILTERS_MAX && filters[i].id != LZMA_VLI_UNKNOWN; i++)
		free(filters[i].options);
}

/* Reads the header of a block, and prepares its decoder: 0 or an error. */
static int begin_block(struct xz_blocks *xz, lzma_block *block, struct stream_chunk *out,
		       struct error *e)
{
	int err;

	block->header_size = lzma_block_header_size_decode(*xz->stored.next);
	err = xz_need(xz, block->header_size, e);
	if (err)
		return err;
	if (lzma_block_header_decode(block, NULL, xz->stored.next) != LZMA_OK)
		return refuse_block(xz, LZMA_DATA_ERROR, out->stored_at, e);
	stream_buffer_consume(&xz->stored, block->header_size);
	if (block->uncompressed_size != LZMA_VLI_UNKNOWN &&
	    block->uncompressed_size > STREAM_CHUNK_MOST)
		err = stream_cannot_enter(xz->stored.input, &stream_xz, out->stored_at, e);
	else if (lzma_raw_decoder_memusage(block->filters) > MEMORY_MOST)
		err = refuse_block(xz, LZMA_DATA_ERROR, out->stored_at, e);
	else if (lzma_block_decoder(&xz->z, block) != LZMA_OK)
		err = stream_no_memory(xz->stored.input, e);
	if (err)
		free_filters(block->filters);
	return err;
}

/* The next block: 0 or an error. */
static int read_block(struct xz_blocks *xz, struct stream_chunk *out, struct error *e)
{
	lzma_filter filters[LZMA_FILTERS_MAX + 1];
	lzma_block block = { .version = 1, .check = xz->flags.check, .filters = filters };
	int err;

	out->stored_at = stream_buffer_in_source(&xz->stored);
	err = begin_block(xz, &block, out, e);
	if (err)
		return err;
	err = decode_block(xz, out, e);
	free_filters(filters);
	if (err)
		return err;
	out->stored_length = stream_buffer_in_source(&xz->stored) - out->stored_at;
	if (lzma_index_hash_append(xz->index, lzma_block_unpadded_size(&block),
				   block.uncompressed_size) != LZMA_OK)
		return refuse_block(xz, LZMA_DATA_ERROR, out->stored_at, e);
	return 0;
}

static int xz_blocks_next(void *reader, struct stream_chunk *out, struct error *e)
{
	struct xz_blocks *xz = reader;
	int more = 1;

	out->bytes.count = 0;
	while (more > 0 && out->bytes.count == 0) {
		if (!xz->index)
			more = begin_stream(xz, e);
		if (more <= 0)
			break;
		more = xz_need(xz, 1, e);
		if (!more)
			more = *xz->stored.next == INDEX_BEGINS ? end_stream(xz, e) :
								  read_block(xz, out, e);
		more = more ? more : 1;
	}
	return more;
}

const struct stream_kind stream_xz = {
	.name = "xz",
	.codec = CODEC_STEP(CODEC_XZ_BLOCK, 0),
	.unpack = "xz",
	.repack = "xz -T0 --block-size=1MiB >new.tar.xz",
	.begins = xz_begins,
	.open = xz_blocks_open,
	.close = xz_blocks_close,
	.next = xz_blocks_next,
};
