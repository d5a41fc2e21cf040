/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xz files; and those of lzma and lzip, which have no entry points. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>

#include "stream/stream_kind.h"
#include "stream/unpack_kind.h"

enum { ALONE_BYTES = 13 }; /* of the header of a .lzma */

static bool unpack_xz_begins(const unsigned char *head, size_t n)
{
	return stream_xz.begins(head, n);
}

/*
 * A .lzma has no magic: properties, of which lzma writes 0x5d, the dictionary, a power of 2
 * or 3 times one, and the size, which may be unknown.
 */
static bool is_lzma_alone(const unsigned char *head, size_t n)
{
	return n >= ALONE_BYTES && memcmp(head, "\x5d\0\0", 3) == 0 &&
	       (head[12] == 0 || memcmp(head + 5, "\xff\xff\xff\xff\xff\xff\xff\xff", 8) == 0);
}

static bool unpack_lzma_begins(const unsigned char *head, size_t n)
{
	return (n >= 6 && memcmp(head, "LZIP", 4) == 0 && head[4] <= 1) ||
	       is_lzma_alone(head, n);
}

static void *unpack_lzma_open(void)
{
	lzma_stream *z = calloc(1, sizeof(*z));

	if (z && lzma_auto_decoder(z, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK)
		return z;
	free(z);
	return NULL;
}

static void unpack_lzma_close(void *decoder)
{
	lzma_end(decoder);
	free(decoder);
}

static int unpack_lzma_step(void *decoder, struct unpack_step *step)
{
	lzma_stream *z = decoder;
	lzma_ret status;

	if (step->complete) /* it ends once, behind all streams of the file */
		return step->left ? -EBADMSG : 0;
	z->next_in = step->next;
	z->avail_in = step->left;
	z->next_out = step->out;
	z->avail_out = step->room;
	status = lzma_code(z, step->last ? LZMA_FINISH : LZMA_RUN);
	step->next += step->left - z->avail_in;
	step->left = z->avail_in;
	step->out += step->room - z->avail_out;
	step->room = z->avail_out;
	step->complete = status == LZMA_STREAM_END;
	if (status == LZMA_OK || status == LZMA_STREAM_END || status == LZMA_BUF_ERROR)
		return 0;
	return status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR ? -ENOMEM : -EBADMSG;
}

const struct unpack_kind unpack_xz = {
	.name = "xz",
	.begins = unpack_xz_begins,
	.open = unpack_lzma_open,
	.close = unpack_lzma_close,
	.step = unpack_lzma_step,
};

const struct unpack_kind unpack_lzma = {
	.name = "lzma",
	.alone = true,
	.begins = unpack_lzma_begins,
	.open = unpack_lzma_open,
	.close = unpack_lzma_close,
	.step = unpack_lzma_step,
};
