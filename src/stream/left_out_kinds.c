/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compressions whose library this build leaves out: recognised, and refused. */
#include <string.h>

#include "config.h"
#include "stream/stream_kind.h"

#define LEFT_OUT(variable, word, magic, library)                                \
	static bool variable##_left_out_begins(const unsigned char *head, size_t n) \
	{                                                                       \
		return n >= sizeof(magic) - 1 &&                                \
		       memcmp(head, magic, sizeof(magic) - 1) == 0;             \
	}                                                                       \
	const struct stream_kind variable = { .name = word, .needs = library,   \
					      .begins = variable##_left_out_begins };

UNLESS_ZLIB(LEFT_OUT(stream_gzip, "gzip", "\037\213\010", NEEDS_ZLIB))
UNLESS_ZLIB(LEFT_OUT(stream_deflate, "deflate", "", NEEDS_ZLIB))
UNLESS_ZSTD(LEFT_OUT(stream_zstd, "zstd", "\050\265\057\375", NEEDS_ZSTD))
UNLESS_LZMA(LEFT_OUT(stream_xz, "xz", "\3757zXZ", NEEDS_LZMA))
UNLESS_LZ4(LEFT_OUT(stream_lz4, "lz4", "\004\042\115\030", NEEDS_LZ4))
UNLESS_BZIP2(LEFT_OUT(stream_bzip2, "bzip2", "BZh", NEEDS_BZIP2))
