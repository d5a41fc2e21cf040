/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * peek.h: what a compressed file holds, so that a refusal names it.
 */
#ifndef GRANARY_FORMAT_PEEK_H
#define GRANARY_FORMAT_PEEK_H

#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

/*
 * Decompresses the beginning of the window [base, base + length) into `out`: how many of
 * `room` bytes there are; 0 where it cannot be decompressed, or is twice. gzip, bzip2, compress, xz,
 * lzma, lzip, lz4 and zstd; no other program is run. Any thread may call.
 */
size_t peek(const struct source *source, uint64_t base, uint64_t length,
	    unsigned char *out, size_t room);

#endif
