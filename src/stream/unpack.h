/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack.h: decodes a compressed stream once, from front to back, whether or not it can be
 * entered. All that decoded.h knows, and LZMA files (.lzma, .lz) too.
 *
 * Threads: any, one a call.
 */
#ifndef GRANARY_STREAM_UNPACK_H
#define GRANARY_STREAM_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct source;

/* Takes the next decoded bytes: 0, or a negative errno, which ends the decoding. */
typedef int unpack_write(void *context, const void *bytes, size_t n);

/*
 * Decodes the stream that the source, called `label`, holds from `base` on. 0, or an error
 * and a sentence: of the stream, or, without a sentence, of `write`.
 */
int unpack_stream(const struct source *source, uint64_t base, const char *label,
		  unpack_write *write, void *context, struct error *e);

/* Is it a stream that only unpack_stream reads? */
bool unpack_alone_reads(const unsigned char *head, size_t n);

#endif
