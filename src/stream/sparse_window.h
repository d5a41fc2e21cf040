/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse_window.h: of the bytes before a chunk of deflate, those that the chunk repeats.
 * Private to stream/.
 *
 * A match reaches back 32 KiB at most. So the first 32 KiB of a chunk show all bytes that
 * it takes from before its begin: of photographs some hundred, of texts some thousand. The
 * others are stored as zeros, which take no room in an index.
 */
#ifndef GRANARY_STREAM_SPARSE_WINDOW_H
#define GRANARY_STREAM_SPARSE_WINDOW_H

#include <stddef.h>

#include "stream/stream_kind.h"

enum {
	SPARSE_WINDOW_BYTES = 32 << 10,
	SPARSE_STORED_MOST = 64 << 10, /* stored bytes of a chunk that are looked at */
};

/*
 * Leaves in chunk->window what the chunk needs of the `n` plain bytes before it, packed.
 * `stored` has the first bytes of the chunk, `length` of them. 0 or -ENOMEM.
 */
int sparse_window_pack(const unsigned char *window, size_t n, const unsigned char *stored,
		       size_t length, struct stream_chunk *chunk);

#endif
