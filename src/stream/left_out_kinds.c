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

#define STREAM_KIND(variable, word, magic, library) \
	UNLESS_##library(LEFT_OUT(variable, word, magic, NEEDS_##library))
#include "stream/streams.def"
#undef STREAM_KIND
UNLESS_ZLIB(const struct stream_kind stream_deflate = { .name = "deflate", .needs = NEEDS_ZLIB };)
