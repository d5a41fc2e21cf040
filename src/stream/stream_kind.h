/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_kind.h: the operations of a compression. Private to stream/.
 *
 * A kind is one file, and a line in the table of decoded.c. Its reader decodes a stream
 * from front to back, once, and cuts it into chunks at places where it can be entered.
 *
 * Threads: one reader belongs to one thread at a time.
 */
#ifndef GRANARY_STREAM_STREAM_KIND_H
#define GRANARY_STREAM_STREAM_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "source/source.h"

enum {
	STREAM_SPAN = 1 << 20,        /* decoded bytes of a chunk, at least, mostly */
	STREAM_CHUNK_MOST = 64 << 20, /* a reader of a file decodes so much */
};

/* The window of a source that holds the stream; its length is what is known of it. */
struct stream_input {
	const struct source *source;
	uint64_t base, length;
	const char *label; /* for messages */
	bool closed;       /* stream_cannot_enter was said */
};

struct stream_chunk {
	VEC(unsigned char) bytes; /* decoded */
	uint64_t stored_at;       /* bytes from the start of the source */
	uint64_t stored_length;
	uint32_t skipped;         /* 1: stored as it is */
	unsigned bits;            /* as in struct codec_entry */
	VEC(unsigned char) window;
};

struct stream_kind {
	const char *name;     /* "gzip" */
	uint32_t codec;       /* a CODEC_STEP */
	const char *unpack;   /* the program that unpacks it with -dc, and the command that
				 packs so that the result can be entered */
	const char *repack;
	const char *needs;    /* the library that this build lacks; or NULL */

	bool (*begins)(const unsigned char *head, size_t n);

	/* The reader of a stream; `input` outlives it. NULL: out of memory. */
	void *(*open)(struct stream_input *input);
	void (*close)(void *reader);

	/*
	 * Decodes the next chunk into `out`, whose memory is used again: 1; 0 at the end;
	 * or an error, whose sentence names the label and the place in the source.
	 */
	int (*next)(void *reader, struct stream_chunk *out, struct error *e);

	/* The bytes behind the end of the stream that are ignored, as its own program does. */
	uint64_t (*ignored)(const void *reader);
};

extern const struct stream_kind stream_gzip, stream_zstd, stream_xz, stream_lz4,
	stream_bzip2, stream_deflate;

/*
 * Reads up to `n` bytes at `at` of the window: the number, 0 at its end, or an error. The
 * window may lie in a stream that ends before it.
 */
ssize_t stream_read(struct stream_input *input, void *buffer, size_t n, uint64_t at,
		    struct error *e);

/* Errors of all kinds. `at`: in the source. */
int stream_truncated(const struct stream_input *input, struct error *e);
int stream_damaged(const struct stream_input *input, const char *what, uint64_t at,
		   struct error *e);
int stream_unreadable(const struct stream_input *input, int err, struct error *e);
int stream_no_memory(const struct stream_input *input, struct error *e);

/* `why` the stream cannot be entered, and the commands that help. */
int stream_refuse_entry(struct stream_input *input, const struct stream_kind *kind,
			const char *why, struct error *e);

/* The chunk at `at` exceeds STREAM_CHUNK_MOST. */
int stream_cannot_enter(struct stream_input *input, const struct stream_kind *kind,
			uint64_t at, struct error *e);

#endif
