/* A zlib stream: what HDF5 calls deflate and squashfs gzip. */
#include "codec/codec.h"

#include <errno.h>
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

/* What follows the end of the stream is left alone, as HDF5 and Linux do. */
static ssize_t decode(const void *in, size_t n, void *out, size_t room,
		      uint32_t parameter)
{
	z_stream stream = {
		.next_in = in,
		.avail_in = (uInt)n,
		.next_out = out,
		.avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX,
	};
	int status;

	(void)parameter;
	if (n > UINT_MAX)
		return -EBADMSG;
	if (inflateInit(&stream) != Z_OK)
		return -ENOMEM;
	status = inflate(&stream, Z_FINISH);
	inflateEnd(&stream);
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	return status == Z_STREAM_END ? (ssize_t)stream.total_out : -EBADMSG;
}

const struct codec codec_zlib = { .name = "zlib", .decode = decode };
