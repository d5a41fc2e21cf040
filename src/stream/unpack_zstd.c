/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "stream/stream_kind.h"
#include "stream/unpack_kind.h"

enum { WINDOW_MOST = 31 }; /* `zstd --long=31` */

static bool unpack_zstd_begins(const unsigned char *head, size_t n)
{
	return stream_zstd.begins(head, n);
}

static void *unpack_zstd_open(void)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();

	if (z)
		ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_MOST);
	return z;
}

static void unpack_zstd_close(void *decoder)
{
	ZSTD_freeDCtx(decoder);
}

static int unpack_zstd_step(void *decoder, struct unpack_step *step)
{
	ZSTD_inBuffer in = { step->next, step->left, 0 };
	ZSTD_outBuffer out = { step->out, step->room, 0 };
	size_t status = ZSTD_decompressStream(decoder, &out, &in);

	step->next += in.pos;
	step->left -= in.pos;
	step->out += out.pos;
	step->room -= out.pos;
	/* without input or output the call tells nothing */
	if (in.pos || out.pos)
		step->complete = status == 0;
	if (!ZSTD_isError(status))
		return 0;
	return ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
}

const struct unpack_kind unpack_zstd = {
	.name = "zstd",
	.begins = unpack_zstd_begins,
	.open = unpack_zstd_open,
	.close = unpack_zstd_close,
	.step = unpack_zstd_step,
};
