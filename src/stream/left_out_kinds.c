/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compressions whose library this build leaves out: recognised, and refused. */
#include "codec/gzip_header.h"
#include "config.h"
#include "stream/stream_kind.h"

#if !WITH_ZLIB
static bool gzip_left_out_begins(const unsigned char *head, size_t n)
{
	return gzip_begins(head, n);
}

const struct stream_kind stream_gzip = { .name = "gzip", .needs = NEEDS_ZLIB,
					 .begins = gzip_left_out_begins };
#endif
