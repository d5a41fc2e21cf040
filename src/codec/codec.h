/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codec.h: decodes stored bytes into the bytes of a file.
 *
 * A chain lists the steps that the writer applied to a chunk, in that order: { shuffle,
 * zlib, fletcher32 }. Decoding undoes them from the end. A chunk may have skipped steps
 * (a block that did not get smaller, a filter mask). In a chain that begins with a
 * checksum of the index (CODEC_CRC32) none is skipped: the mask's 32 bits are the
 * checksum of the decoded chunk. Chain and bytes are untrusted: decoding always ends,
 * within its buffers.
 *
 * A codec's number is permanent, since indexes hold it. A new codec is codec/NAME.c with
 * one `const struct codec`, and a line in codecs.def.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_CODEC_CODEC_H
#define GRANARY_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CODEC_CHAIN_MOST = 4 }; /* as in volume_desc */

enum codec_id {
	CODEC_END = 0,
#define CODEC(id, number, name, library) CODEC_##id = number,
#include "codec/codecs.def"
#undef CODEC
};

/* A step of a chain: the codec's number and a parameter. */
#define CODEC_STEP(id, parameter) ((uint32_t)(id) | (uint32_t)(parameter) << 8)
enum { CODEC_PARAMETER_MOST = (1 << 24) - 1 };

/* The bytes before a chunk of a stream that it may repeat. */
enum { CODEC_WINDOW_MOST = 32 << 10 };

/* The place in a compressed stream where a chunk of it begins. */
struct codec_entry {
	unsigned bits;        /* of the byte before the stored ones that are the chunk's: 0 to
				 7, and their value above the lowest 8 bits */
	const void *window;   /* the plain bytes before the chunk, as raw deflate: at most
				 CODEC_WINDOW_MOST */
	size_t window_length; /* bytes of the raw deflate; 0: the chunk repeats none */
};

struct codec {
	const char *name;  /* "zstd" */
	const char *needs; /* the library that this build lacks, and how to get it; or NULL */

	/*
	 * Decodes `n` bytes into at most `room` bytes at `out`. Returns the number of
	 * bytes, -EBADMSG if they are damaged or do not fit, or -ENOMEM. `in` and `out`
	 * do not overlap.
	 */
	ssize_t (*decode)(const void *in, size_t n, void *out, size_t room,
			  uint32_t parameter);

	/*
	 * In place of `decode`, where the library needs a context, which is used again: a
	 * new one for each chunk takes time. One thread at a time has it.
	 */
	ssize_t (*decode_with)(void *context, const void *in, size_t n, void *out,
			       size_t room);
	void *(*context_new)(void); /* NULL: out of memory */
	void (*context_free)(void *context);

	/*
	 * In place of `decode`, for a stream that is entered in its middle (codec_decode_at);
	 * the context as above.
	 */
	ssize_t (*decode_at)(void *context, const struct codec_entry *entry, const void *in,
			     size_t n, void *out, size_t room);

	/*
	 * Stored bytes for `plain` ones, never fewer than `plain`; SIZE_MAX: does not
	 * fit. NULL for a compressor: not fixed.
	 */
	size_t (*stored_size)(size_t plain);

	bool parametrised; /* the parameter is not 0; else it is 0 */

	/*
	 * In place of `decode`: the checksum of `n` bytes behind others whose checksum is
	 * `sum`; 0: behind none. First in a chain only.
	 */
	uint32_t (*sum)(uint32_t sum, const void *plain, size_t n);
};

#define CODEC(id, number, name, library) extern const struct codec name;
#include "codec/codecs.def"
#undef CODEC

/* The codec of a step, or NULL. */
const struct codec *codec_find(uint32_t step);

/* The libraries that this build lacks for the steps, in words ("zstd; ..."); or NULL. */
const char *codec_chain_needs(const uint32_t steps[CODEC_CHAIN_MOST]);

/*
 * Can this chain be decoded? 0, or -ENOTSUP: an unknown codec, one left out, one whose
 * parameter makes no sense, or an intermediate size that nobody knows (two
 * compressors). Steps end at the first CODEC_END, or after CODEC_CHAIN_MOST.
 */
int codec_chain_check(const uint32_t steps[CODEC_CHAIN_MOST]);

/* Which steps were skipped, by a chunk's mask: none, where steps[0] is a checksum. */
uint32_t codec_chain_skipped(const uint32_t steps[CODEC_CHAIN_MOST], uint32_t mask);

/*
 * Undoes a chain, except the steps in `skipped` (bit i: steps[i]), or compares the
 * decoded bytes with `skipped`, where steps[0] is a checksum. Returns the bytes written
 * to `plain`, at most `room`, or -EBADMSG, -ENOMEM, -ENOTSUP. `room` is the size of the
 * whole chunk; the last fragment of a squashfs image is smaller.
 */
ssize_t codec_chain_decode(const uint32_t steps[CODEC_CHAIN_MOST], uint32_t skipped,
			   const void *stored, size_t n, void *plain, size_t room);

/*
 * Decodes a chunk of a stream that begins at `entry`, up to `room` plain bytes. Returns
 * the bytes written to `plain`, fewer where the stored bytes or the stream end first, or
 * -EBADMSG, -ENOMEM, -ENOTSUP. A codec without entries decodes the chunk as a whole.
 */
ssize_t codec_decode_at(uint32_t step, const struct codec_entry *entry, const void *stored,
			size_t n, void *plain, size_t room);

#endif
