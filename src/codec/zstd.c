/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zstandard frames. */
#include "codec/codec.h"

#include <errno.h>
#include <stdatomic.h>
#include <zstd.h>
#include <zstd_errors.h>

/*
 * Idle contexts (96 KB each). A new one a block would take 11 us, at 4 KiB twice the time
 * of decoding.
 */
enum { SPARES = 16 };
static ZSTD_DCtx *_Atomic spares[SPARES];

static ZSTD_DCtx *context_acquire(void)
{
	for (unsigned i = 0; i < SPARES; i++) {
		ZSTD_DCtx *context = atomic_load_explicit(&spares[i], memory_order_relaxed);

		if (context)
			context = atomic_exchange(&spares[i], NULL);
		if (context)
			return context;
	}
	return ZSTD_createDCtx();
}

static void context_release(ZSTD_DCtx *context)
{
	for (unsigned i = 0; i < SPARES; i++) {
		ZSTD_DCtx *none = NULL;

		if (atomic_compare_exchange_strong(&spares[i], &none, context))
			return;
	}
	ZSTD_freeDCtx(context);
}

static ssize_t zstd_decode(const void *in, size_t n, void *out, size_t room,
			   uint32_t parameter)
{
	ZSTD_DCtx *context;
	size_t got;

	(void)parameter;
	if (n == 0)
		return -EBADMSG; /* the library would return 0 */
	context = context_acquire();
	if (!context)
		return -ENOMEM;
	got = ZSTD_decompressDCtx(context, out, room, in, n);
	context_release(context);
	if (!ZSTD_isError(got))
		return (ssize_t)got;
	return ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation ? -ENOMEM :
									-EBADMSG;
}

const struct codec codec_zstd = { .name = "zstd", .decode = zstd_decode };
