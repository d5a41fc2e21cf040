/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bzip2 stream. */
#include "codec/codec.h"

#include <bzlib.h>
#include <errno.h>
#include <limits.h>

/* Bytes behind the end of the stream are ignored. */
static ssize_t bzip2_decode(const void *in, size_t n, void *out, size_t room,
			    uint32_t parameter)
{
	unsigned got = (unsigned)room;
	int status;

	(void)parameter;
	if (n > UINT_MAX || room > UINT_MAX)
		return -EBADMSG;
	status = BZ2_bzBuffToBuffDecompress(out, &got, (char *)(uintptr_t)in, (unsigned)n,
					    0, 0);
	if (status == BZ_MEM_ERROR)
		return -ENOMEM;
	return status == BZ_OK ? (ssize_t)got : -EBADMSG;
}

const struct codec codec_bzip2 = { .name = "bzip2", .decode = bzip2_decode };
