/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block of LZO1X, which squashfs calls lzo. */
#include "codec/codec.h"

#include <errno.h>
#include <lzo/lzo1x.h>
#include <stdatomic.h>
#include <stdbool.h>

/* lzo_init only tests the library, so two threads may call it at once. */
static bool library_works(void)
{
	static atomic_bool works;

	if (!atomic_load_explicit(&works, memory_order_relaxed))
		atomic_store_explicit(&works, lzo_init() == LZO_E_OK,
				      memory_order_relaxed);
	return atomic_load_explicit(&works, memory_order_relaxed);
}

static ssize_t lzo_decode(const void *in, size_t n, void *out, size_t room,
			  uint32_t parameter)
{
	lzo_uint got = room;

	if (!library_works())
		return -ENOTSUP;
	if (lzo1x_decompress_safe(in, n, out, &got, NULL) != LZO_E_OK)
		return -EBADMSG;
	return (ssize_t)got;
}

const struct codec codec_lzo = { .name = "lzo", .decode = lzo_decode };
