/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unpack_kind.h: decoders that enter nothing. Private to stream/. */
#ifndef GRANARY_STREAM_UNPACK_KIND_H
#define GRANARY_STREAM_UNPACK_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes that a step has taken and made; `next` and `out` move on. */
struct unpack_step {
	const unsigned char *next;
	size_t left;
	unsigned char *out;
	size_t room;
	bool last;     /* nothing comes behind what is left */
	bool complete; /* the stream may end here */
};

struct unpack_kind {
	const char *name;
	bool alone; /* decoded.h does not know it */
	bool (*begins)(const unsigned char *head, size_t n);
	void *(*open)(void); /* NULL: out of memory */
	void (*close)(void *decoder);
	/* 0; -EBADMSG: the bytes make no sense; or -ENOMEM. */
	int (*step)(void *decoder, struct unpack_step *step);
};

extern const struct unpack_kind unpack_zstd, unpack_xz, unpack_lzma, unpack_lz4;

#endif
