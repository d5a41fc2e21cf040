/* Frames of Zstandard. */
#include "codec/codec.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

static ssize_t decode(const void *in, size_t n, void *out, size_t room,
		      uint32_t parameter)
{
	size_t got = ZSTD_decompress(out, room, in, n);

	(void)parameter;
	if (!ZSTD_isError(got))
		return (ssize_t)got;
	return ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation ? -ENOMEM :
									-EBADMSG;
}

const struct codec codec_zstd = { .name = "zstd", .decode = decode };
