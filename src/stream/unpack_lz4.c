/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>

#include <lz4frame.h>

#include "stream/stream_kind.h"
#include "stream/unpack_kind.h"

static bool unpack_lz4_begins(const unsigned char *head, size_t n)
{
	return stream_lz4.begins(head, n);
}

static void *unpack_lz4_open(void)
{
	LZ4F_dctx *z = NULL;

	return LZ4F_isError(LZ4F_createDecompressionContext(&z, LZ4F_VERSION)) ? NULL : z;
}

static void unpack_lz4_close(void *decoder)
{
	LZ4F_freeDecompressionContext(decoder);
}

static int unpack_lz4_step(void *decoder, struct unpack_step *step)
{
	size_t taken = step->left, made = step->room;
	size_t status = LZ4F_decompress(decoder, step->out, &made, step->next, &taken, NULL);

	if (LZ4F_isError(status))
		return -EBADMSG;
	step->next += taken;
	step->left -= taken;
	step->out += made;
	step->room -= made;
	if (taken || made)
		step->complete = status == 0;
	return 0;
}

const struct unpack_kind unpack_lz4 = {
	.name = "lz4",
	.begins = unpack_lz4_begins,
	.open = unpack_lz4_open,
	.close = unpack_lz4_close,
	.step = unpack_lz4_step,
};
