/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stretch of a gzip file, from the beginning of a deflate block on. It may go over the
 * end of a member into the next one, as in files of many small members (BGZF). ISA-L
 * decodes twice as fast as zlib.
 */
#include "codec/codec.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "codec/gzip_header.h"
#include "config.h"

#if WITH_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

/* The rest of the stored bytes, and of the room. */
struct gzip_run {
	const unsigned char *in;
	size_t n;
	unsigned char *out;
	size_t room;
};

#if WITH_ISAL

struct gzip_context {
	struct inflate_state state;
	unsigned char window[CODEC_WINDOW_MOST]; /* unpacked */
};

static void *gzip_new(void)
{
	return malloc(sizeof(struct gzip_context));
}

static void gzip_free(void *context)
{
	free(context);
}

/* Begins with the bits of an entry, behind `length` bytes of the window. */
static int gzip_enter(struct gzip_context *context, unsigned bits, size_t length)
{
	struct inflate_state *state = &context->state;

	isal_inflate_init(state);
	state->crc_flag = ISAL_DEFLATE;
	if (length && isal_inflate_set_dict(state, context->window, (uint32_t)length) !=
			      COMP_OK)
		return -EBADMSG;
	state->read_in = bits >> 8;
	state->read_in_length = (int32_t)(bits & 255);
	return 0;
}

/* 1 at the end of the deflate stream, 0 where bytes or room end, or -EBADMSG. */
static int gzip_inflate(struct gzip_context *context, struct gzip_run *run)
{
	struct inflate_state *state = &context->state;
	int status;

	state->next_in = (uint8_t *)(uintptr_t)run->in;
	state->avail_in = (uint32_t)run->n;
	state->next_out = run->out;
	state->avail_out = (uint32_t)run->room;
	status = isal_inflate(state);
	run->in = state->next_in;
	run->n = state->avail_in;
	run->out = state->next_out;
	run->room = state->avail_out;
	if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT)
		return -EBADMSG;
	if (state->block_state != ISAL_BLOCK_FINISH)
		return 0;
	run->in -= state->read_in_length / 8; /* bytes that wait as bits */
	run->n += (size_t)(state->read_in_length / 8);
	return 1;
}

#else

struct gzip_context {
	z_stream z;
	unsigned char window[CODEC_WINDOW_MOST]; /* unpacked */
};

static void *gzip_new(void)
{
	struct gzip_context *context = calloc(1, sizeof(*context));

	if (context && inflateInit2(&context->z, -MAX_WBITS) == Z_OK)
		return context;
	free(context);
	return NULL;
}

static void gzip_free(void *context)
{
	inflateEnd(&((struct gzip_context *)context)->z);
	free(context);
}

/* Begins with the bits of an entry, behind `length` bytes of the window. */
static int gzip_enter(struct gzip_context *context, unsigned bits, size_t length)
{
	z_stream *z = &context->z;

	if (inflateReset(z) != Z_OK)
		return -EBADMSG;
	if (bits & 255)
		inflatePrime(z, (int)(bits & 255), (int)(bits >> 8));
	if (length && inflateSetDictionary(z, context->window, (uInt)length) != Z_OK)
		return -EBADMSG;
	return 0;
}

/* 1 at the end of the deflate stream, 0 where bytes or room end, or a negative errno. */
static int gzip_inflate(struct gzip_context *context, struct gzip_run *run)
{
	z_stream *z = &context->z;
	int status;

	z->next_in = (unsigned char *)(uintptr_t)run->in;
	z->avail_in = (uInt)run->n;
	z->next_out = run->out;
	z->avail_out = (uInt)run->room;
	status = inflate(z, Z_SYNC_FLUSH);
	run->in = z->next_in;
	run->n = z->avail_in;
	run->out = z->next_out;
	run->room = z->avail_out;
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return -EBADMSG;
	return status == Z_STREAM_END;
}

#endif

/* Passes the trailer of a member, and the header of the next one. False: none follows. */
static bool gzip_next_member(struct gzip_run *run)
{
	size_t header;

	if (run->n < GZIP_TRAILER)
		return false;
	run->in += GZIP_TRAILER;
	run->n -= GZIP_TRAILER;
	header = gzip_header_length(run->in, run->n);
	run->in += header;
	run->n -= header;
	return header > 0;
}

/* Unpacks the window of an entry: its length, or a negative errno. */
static ssize_t gzip_unpack_window(struct gzip_context *context,
				  const struct codec_entry *entry)
{
	struct gzip_run run = { entry->window, entry->window_length, context->window,
				CODEC_WINDOW_MOST };
	int result;

	if (entry->window_length == 0)
		return 0;
	result = gzip_enter(context, 0, 0);
	if (!result)
		result = gzip_inflate(context, &run);
	return result < 0 ? result : (ssize_t)(CODEC_WINDOW_MOST - run.room);
}

static ssize_t gzip_decode_at(void *argument, const struct codec_entry *entry, const void *in,
			      size_t n, void *out, size_t room)
{
	struct gzip_context *context = argument;
	struct gzip_run run = { in, n, out, room };
	ssize_t window;
	int result;

	if (n == 0 || n > INT_MAX || room > INT_MAX)
		return -EBADMSG;
	window = gzip_unpack_window(context, entry);
	if (window < 0)
		return window;
	result = gzip_enter(context, entry->bits, (size_t)window);
	while (!result && run.room) {
		result = gzip_inflate(context, &run);
		if (result != 1 || !gzip_next_member(&run))
			break;
		result = gzip_enter(context, 0, 0);
	}
	return result < 0 ? result : (ssize_t)(room - run.room);
}

const struct codec codec_gzip = { .name = "gzip", .decode_at = gzip_decode_at,
				  .context_new = gzip_new, .context_free = gzip_free };
