/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/stream_buffer.h"

#include <string.h>

int stream_buffer_fill(struct stream_buffer *buffer, struct error *e)
{
	ssize_t n;

	if (buffer->left)
		memmove(buffer->bytes, buffer->next, buffer->left);
	n = stream_read(buffer->input, buffer->bytes + buffer->left,
			STREAM_BUFFER - buffer->left, buffer->read, e);
	if (n < 0)
		return (int)n;
	buffer->next = buffer->bytes;
	buffer->left += (size_t)n;
	buffer->read += (uint64_t)n;
	return n > 0;
}

int stream_buffer_need(struct stream_buffer *buffer, size_t n, struct error *e)
{
	int more = 1;

	while (more > 0 && buffer->left < n)
		more = stream_buffer_fill(buffer, e);
	return more;
}

void stream_buffer_consume(struct stream_buffer *buffer, size_t n)
{
	buffer->next += n;
	buffer->left -= n;
}

uint64_t stream_buffer_position(const struct stream_buffer *buffer)
{
	return buffer->read - buffer->left;
}

uint64_t stream_buffer_in_source(const struct stream_buffer *buffer)
{
	return buffer->input->base + stream_buffer_position(buffer);
}
