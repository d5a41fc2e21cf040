/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chunk is decoded twice, behind windows of markers instead of its own. A byte of the
 * window gives two values that differ, and together are its number; any other byte gives
 * the same twice.
 */
#include "stream/sparse_window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

enum { LEVEL = 6 };

/* One of two values that differ, and tell which byte of a window they stand for. */
static unsigned char low_marker(size_t i)
{
	return (unsigned char)(i & 255);
}

static unsigned char high_marker(size_t i)
{
	return (unsigned char)((i >> 8) + ((i >> 8) >= (i & 255)));
}

static size_t marked_byte(unsigned low, unsigned high)
{
	return (size_t)(high - (high > low)) << 8 | low;
}

/* Decodes up to `room` bytes of the chunk behind a window: how many, or -ENOMEM. */
static ssize_t decode_behind(const unsigned char *window, size_t n,
			     const unsigned char *stored, size_t length, unsigned bits,
			     unsigned char *out, size_t room)
{
	z_stream z = { 0 };
	ssize_t got;

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return -ENOMEM;
	z.next_in = (unsigned char *)(uintptr_t)stored;
	z.avail_in = (uInt)length;
	z.next_out = out;
	z.avail_out = (uInt)room;
	if (bits & 255)
		inflatePrime(&z, (int)(bits & 255), (int)(bits >> 8));
	inflateSetDictionary(&z, window, (uInt)n);
	inflate(&z, Z_SYNC_FLUSH);
	got = (ssize_t)(room - z.avail_out);
	inflateEnd(&z);
	return got;
}

/* Memory of one call. */
struct sparse_buffers {
	unsigned char markers[SPARSE_WINDOW_BYTES];
	unsigned char low[SPARSE_WINDOW_BYTES], high[SPARSE_WINDOW_BYTES];
	unsigned char sparse[SPARSE_WINDOW_BYTES]; /* the window, the other bytes zero */
};

static ssize_t decode_marked(struct sparse_buffers *b, unsigned char (*marker)(size_t),
			     size_t n, const unsigned char *stored, size_t length,
			     const struct stream_chunk *chunk, unsigned char *out)
{
	size_t room = chunk->bytes.count < SPARSE_WINDOW_BYTES ? chunk->bytes.count :
								 SPARSE_WINDOW_BYTES;

	for (size_t i = 0; i < n; i++)
		b->markers[i] = marker(i);
	return decode_behind(b->markers, n, stored, length, chunk->bits, out, room);
}

/*
 * Copies the repeated bytes to b->sparse. Returns the first one's position, `n`: none is
 * repeated; or -ENOMEM. If the stored bytes give too little, all are kept.
 */
static ssize_t copy_repeated(struct sparse_buffers *b, const unsigned char *window, size_t n,
			     const unsigned char *stored, size_t length,
			     const struct stream_chunk *chunk)
{
	size_t first = n;
	ssize_t low = decode_marked(b, low_marker, n, stored, length, chunk, b->low);
	ssize_t high = decode_marked(b, high_marker, n, stored, length, chunk, b->high);

	if (low < 0 || high < 0)
		return -ENOMEM;
	if (low != high ||
	    ((size_t)low < SPARSE_WINDOW_BYTES && (size_t)low < chunk->bytes.count)) {
		memcpy(b->sparse, window, n);
		return 0;
	}
	memset(b->sparse, 0, n);
	for (ssize_t i = 0; i < low; i++) {
		size_t at = marked_byte(b->low[i], b->high[i]);

		if (b->low[i] == b->high[i] || at >= n)
			continue;
		b->sparse[at] = window[at];
		if (at < first)
			first = at;
	}
	return (ssize_t)first;
}

static int pack_raw(const unsigned char *bytes, size_t n, struct stream_chunk *chunk)
{
	z_stream z = { 0 };
	size_t room;
	int status;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, n);
	if (vec_reserve(&chunk->window, room) < 0) {
		deflateEnd(&z);
		return -ENOMEM;
	}
	z.next_in = (unsigned char *)(uintptr_t)bytes;
	z.avail_in = (uInt)n;
	z.next_out = chunk->window.items;
	z.avail_out = (uInt)room;
	status = deflate(&z, Z_FINISH);
	chunk->window.count = room - z.avail_out;
	deflateEnd(&z);
	return status == Z_STREAM_END ? 0 : -ENOMEM;
}

int sparse_window_pack(const unsigned char *window, size_t n, const unsigned char *stored,
		       size_t length, struct stream_chunk *chunk)
{
	struct sparse_buffers *b = calloc(1, sizeof(*b));
	ssize_t first = b ? copy_repeated(b, window, n, stored, length, chunk) : -ENOMEM;
	int err = first < 0 ? (int)first : 0;

	chunk->window.count = 0;
	if (!err && (size_t)first < n)
		err = pack_raw(b->sparse + first, n - (size_t)first, chunk);
	free(b);
	return err;
}
