/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gzip_header.h: the header and the trailer of a gzip member (RFC 1952, 2.3).
 */
#ifndef GRANARY_CODEC_GZIP_HEADER_H
#define GRANARY_CODEC_GZIP_HEADER_H

#include <stddef.h>
#include <string.h>

enum {
	GZIP_HEADER = 10,  /* bytes of the fixed part */
	GZIP_TRAILER = 8,  /* checksum and length */
	GZIP_HAS_SUM = 2,  /* flags: two bytes of checksum behind the header, */
	GZIP_HAS_EXTRA = 4, /* a field of two bytes of length, */
	GZIP_HAS_NAME = 8, /* a text with a NUL */
	GZIP_HAS_COMMENT = 16,
	GZIP_RESERVED = 0xe0,
};

static inline int gzip_begins(const unsigned char *head, size_t n)
{
	return n >= GZIP_HEADER && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 &&
	       !(head[3] & GZIP_RESERVED);
}

/* The length of the header at `head`, or 0: it is none, or not all of it is there. */
static inline size_t gzip_header_length(const unsigned char *head, size_t n)
{
	size_t at = GZIP_HEADER;

	if (!gzip_begins(head, n))
		return 0;
	if (head[3] & GZIP_HAS_EXTRA) {
		if (n - at < 2)
			return 0;
		at += 2 + (size_t)(head[at] | head[at + 1] << 8);
	}
	for (int texts = !!(head[3] & GZIP_HAS_NAME) + !!(head[3] & GZIP_HAS_COMMENT);
	     texts > 0; texts--) {
		const unsigned char *end = at < n ? memchr(head + at, 0, n - at) : NULL;

		if (!end)
			return 0;
		at = (size_t)(end - head) + 1;
	}
	if (head[3] & GZIP_HAS_SUM)
		at += 2;
	return at <= n ? at : 0;
}

#endif
