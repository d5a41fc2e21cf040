/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream_buffer.h: the stored bytes of a stream, from front to back. Private to stream/. */
#ifndef GRANARY_STREAM_STREAM_BUFFER_H
#define GRANARY_STREAM_STREAM_BUFFER_H

#include "stream/stream_kind.h"

enum { STREAM_BUFFER = 128 << 10 };

/* Initially zero but for the input. The reader moves `next` and `left` on. */
struct stream_buffer {
	struct stream_input *input;
	uint64_t read;             /* bytes of the window that were read */
	const unsigned char *next; /* the bytes that were not taken yet */
	size_t left;
	unsigned char bytes[STREAM_BUFFER];
};

/* Reads on behind the bytes that are left: 1; 0 at the end; or an error. */
int stream_buffer_fill(struct stream_buffer *buffer, struct error *e);

/* The same until `n` bytes are left, STREAM_BUFFER at most; 0: the window ends before. */
int stream_buffer_need(struct stream_buffer *buffer, size_t n, struct error *e);

void stream_buffer_consume(struct stream_buffer *buffer, size_t n);

/* The next byte, in the window and in the source. */
uint64_t stream_buffer_position(const struct stream_buffer *buffer);
uint64_t stream_buffer_in_source(const struct stream_buffer *buffer);

#endif
