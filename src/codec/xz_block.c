/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One block of an xz file. The stream's header says which check ends the block, and the
 * block does not. The check is not computed, but its size has to be known: the bytes that
 * are left behind the block tell it. The checksum of the chunk stands in for it.
 */
#include "codec/codec.h"

#include <errno.h>
#include <stdlib.h>

#include <lzma.h>

static const uint64_t MEMORY_MOST = (uint64_t)100 << 20; /* as in stream/xz_blocks.c */

static void free_filters(lzma_filter *filters)
{
	for (int i = 0; i < LZMA_FILTERS_MAX && filters[i].id != LZMA_VLI_UNKNOWN; i++)
		free(filters[i].options);
}

/* Decodes the filters' data, without the check behind them. */
static ssize_t decode_filters(const lzma_filter *filters, const unsigned char *in, size_t n,
			      unsigned char *out, size_t room)
{
	size_t used = 0, got = 0;
	lzma_ret status;

	if (lzma_raw_decoder_memusage(filters) > MEMORY_MOST)
		return -EBADMSG;
	status = lzma_raw_buffer_decode(filters, NULL, in, &used, n, out, &got, room);
	if (status == LZMA_MEM_ERROR)
		return -ENOMEM;
	return status == LZMA_OK ? (ssize_t)got : -EBADMSG;
}

static ssize_t xz_block_decode(const void *in, size_t n, void *out, size_t room,
			       uint32_t parameter)
{
	lzma_filter filters[LZMA_FILTERS_MAX + 1];
	lzma_block block = { .version = 1, .check = LZMA_CHECK_NONE, .filters = filters };
	const unsigned char *bytes = in;
	ssize_t got;

	(void)parameter;
	if (n == 0 || bytes[0] == 0)
		return -EBADMSG;
	block.header_size = lzma_block_header_size_decode(bytes[0]);
	if (block.header_size > n ||
	    lzma_block_header_decode(&block, NULL, bytes) != LZMA_OK)
		return -EBADMSG;
	got = decode_filters(filters, bytes + block.header_size, n - block.header_size, out,
			     room);
	free_filters(filters);
	return got;
}

const struct codec codec_xz_block = { .name = "xz", .decode = xz_block_decode };
